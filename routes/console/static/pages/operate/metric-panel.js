// One chart of the service's last hour: lines, what they say in a sentence, and their values as a table.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { duration } from "../../ui/amounts.js";
import { bytes, clockTime, number, say, sayOf } from "../../words.js";
import { extremesOf, gapsOf, linesOf, minutesOf } from "./metric-history.js";

/** @param {{title: string, names: string[], kept: any}} props `names` are the series in it; they have one unit. */
export function Panel({ title, names, kept }) {
  const box = useRef(null);
  const chart = useRef(null);
  const isLoading = useRef(false);
  const words = sayOf("metrics.panel", title, kept.series[names[0]].says);
  const { unit } = kept.series[names[0]];
  const data = linesOf(kept, names);
  const marks = { starts: kept.restartsMs.map((at) => at / 1000), gaps: gapsOf(kept).map(({ fromMs, toMs }) => [fromMs / 1000, toMs / 1000]) };
  useEffect(() => {
    if (chart.current) chart.current.setData(data, marks);
    if (chart.current || isLoading.current) return;
    isLoading.current = true;
    // Where it cannot be fetched, the sentences and the table stand alone, and the next sample tries again.
    import("../../ui/chart.js").then(({ draw }) => { if (box.current) chart.current = draw(box.current, names.map(wordsOf), (value) => shown(unit, value), data, marks); }, () => {})
      .finally(() => { isLoading.current = false; });
  }, [kept]);
  useEffect(() => () => chart.current?.destroy(), []);
  return html`<figure class="panel"><figcaption>${words}</figcaption><div ref=${box} aria-hidden="true"></div>
    <ul class="legend dim">${names.map((name, n) => html`<li key=${name}><i class=${`line${n}`} aria-hidden="true"></i> ${sentenceOf(name, kept.series[name])}</li>`)}</ul>
    <${Values} title=${words} names=${names} kept=${kept} unit=${unit} /></figure>`;
}

const wordsOf = (name) => sayOf("metrics.series", name);

function sentenceOf(name, series) {
  const { now, low, high } = extremesOf(series);
  const { unit } = series;
  return say("metrics.sentence", { name: wordsOf(name), now: shown(unit, now), low: shown(unit, low), high: shown(unit, high) });
}

function Values({ title, names, kept, unit }) {
  const [isOpen, open] = useState(false);
  return html`<details onToggle=${(event) => open(event.currentTarget.open)}><summary>${say("metrics.values")}<span class="hidden"> ${title}</span></summary>
    ${isOpen && html`<div class="scrolled" role="region" aria-label=${say("metrics.valuesOf", { title })} tabindex="0"><table><thead><tr><th scope="col">${say("metrics.time")}</th>${names.map((name) => html`<th scope="col" class="num">${wordsOf(name)}</th>`)}</tr></thead>
      <tbody>${minutesOf(kept, names).map(({ atMs, values }) => html`<tr key=${atMs}><th scope="row">${clockTime(atMs)}</th>${values.map((value) => html`<td class="num">${shown(unit, value)}</td>`)}</tr>`)}</tbody></table></div>`}</details>`;
}

function shown(unit, value) {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "bytes": return bytes(value);
    case "ms": return duration(value);
    case "seconds": return duration(value * 1000);
    case "percent": return `${number(Math.round(value))} %`;
    default: return number(Math.round(value * 10) / 10);
  }
}
