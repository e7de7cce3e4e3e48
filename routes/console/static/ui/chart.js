// Lines over time, by uPlot; loaded only where there are some.
import uPlot from "uplot";

const HEIGHT_PX = 130;
const COLOURS = ["--accent", "--warn", "--bad", "--good"];

/**
 * Draw lines.
 *
 * @param {HTMLElement} box gets the chart, as wide as it is; it follows.
 * @param {string[]} labels of the lines.
 * @param {(value: number) => string} words of a value.
 * @param {Array<Array<number|null>>} data seconds, then the values of each line.
 * @returns {{setData: (data: any) => void, destroy: () => void}}
 */
export function draw(box, labels, words, data) {
  loadStyle();
  const colour = colourIn(box);
  const axis = { stroke: () => colour("--dim"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const options = {
    width: Math.max(200, box.clientWidth),
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) || 1] } },
    axes: [{ ...axis, space: 70 }, { ...axis, size: 64, values: (_, ticks) => ticks.map(words) }],
    series: [{}, ...labels.map((label, n) => ({ label, stroke: () => colour(COLOURS[n % COLOURS.length]), width: 1.5, points: { show: false } }))],
  };
  const chart = new uPlot(options, data, box);
  const watcher = new ResizeObserver(([entry]) => chart.setSize({ width: Math.max(200, entry.contentRect.width), height: HEIGHT_PX }));
  watcher.observe(box);
  return {
    setData: (next) => chart.setData(next),
    destroy: () => {
      watcher.disconnect();
      chart.destroy();
    },
  };
}

// A canvas knows no custom properties: an element that has the colour says what it comes to in this theme.
function colourIn(box) {
  const probe = box.appendChild(document.createElement("i"));
  probe.hidden = true;
  return (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
}

function loadStyle() {
  const href = new URL("../vendor/uplot.css", import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`)) return;
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
}
