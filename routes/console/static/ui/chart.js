// Lines over time, by uPlot; loaded only where there are some.
import uPlot from "uplot";
import { clockTime } from "../words.js";

const HEIGHT_PX = 130;
const COLOURS = ["--accent", "--warn", "--bad", "--good"];
const DASHES = [[], [6, 3], [2, 2], [10, 3, 2, 3]]; // with each colour, for whoever does not tell colours apart

/**
 * Draw lines.
 *
 * @param {HTMLElement} box gets the chart, as wide as it is; it follows.
 * @param {string[]} labels of the lines.
 * @param {(value: number) => string} words of a value.
 * @param {Array<Array<number|null>>} data seconds, then the values of each line.
 * @param {{starts: number[], gaps: Array<[number, number]>}} marks seconds: what is drawn as upright lines, and as bands.
 * @returns {{setData: (data: any, marks: any) => void, destroy: () => void}}
 */
export function draw(box, labels, words, data, marks) {
  let marked = marks;
  loadStyle();
  const colour = colourIn(box);
  const axis = { stroke: () => colour("--dim"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const options = {
    width: Math.max(200, box.clientWidth),
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { x: { range: (_, from, to) => [Math.min(from, ...marked.starts), to] }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) || 1] } },
    axes: [{ ...axis, space: 70, size: 30, values: (_, ticks) => ticks.map((at) => clockTime(at * 1000)) }, { ...axis, size: 64, values: (_, ticks) => ticks.map(words) }],
    hooks: { drawAxes: [(chart) => drawMarks(chart, marked, colour)] },
    series: [{}, ...labels.map((label, n) => ({ label, stroke: () => colour(COLOURS[n % COLOURS.length]), dash: DASHES[n % DASHES.length], width: 1.5, points: { show: false } }))],
  };
  const chart = new uPlot(options, data, box);
  const watcher = new ResizeObserver(([entry]) => chart.setSize({ width: Math.max(200, entry.contentRect.width), height: HEIGHT_PX }));
  watcher.observe(box);
  return {
    setData: (next, nextMarks) => {
      marked = nextMarks;
      chart.setData(next);
    },
    destroy: () => {
      watcher.disconnect();
      chart.destroy();
    },
  };
}

function drawMarks(chart, { starts, gaps }, colour) {
  const { ctx, bbox: { top, height } } = chart;
  const at = (seconds) => chart.valToPos(seconds, "x", true);
  ctx.save();
  ctx.fillStyle = colour("--line");
  for (const [from, to] of gaps) ctx.fillRect(at(from), top, at(to) - at(from), height);
  ctx.strokeStyle = colour("--bad");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const seconds of starts) {
    ctx.beginPath();
    ctx.moveTo(at(seconds), top);
    ctx.lineTo(at(seconds), top + height);
    ctx.stroke();
  }
  ctx.restore();
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
