// Whether the service is well: a sentence, and an hour of what it counts, live.
import { useEffect, useRef, useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { connection, useChannel } from "../../live.js";
import { useRead } from "../../store.js";
import { healthOf } from "../../ui/health.js";
import { State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { bytes, clockTime, duration, number, say, sayOf } from "../../words.js";

const HOUR_MS = 3_600_000;
const LATE = 3; // samples

// {title of a panel: the series in it}
const PANELS = {
  requests: ["requestsOk", "requestsRefused", "requestsLimited", "requestsFailed"],
  latency: ["latencyP50", "latencyP99"],
  sockets: ["sockets", "users"],
  frames: ["frames", "framesSkipped"],
  actors: ["actors", "mailbox"],
  turns: ["turns", "letters"],
  faults: ["restarts", "overdue", "jobFailures"],
  commits: ["commits", "commitsTurns"],
  database: ["databaseConnections", "databaseIdle", "writerQueue"],
  memory: ["memory"],
  waiting: ["unsent", "socketQueues", "arriving"],
  cpu: ["cpu"],
};

export default function Metrics() {
  const read = useRead((signal) => admin.metrics(signal).then(keptOf));
  useChannel("metrics", (frames) => read.change((before) => (before ? frames.reduce(withSample, before) : before)), { mode: "delta" });
  return html`<div class="page wide scrolls"><h1 tabindex="-1">${say("metrics.title")}</h1>
    <${State} of=${read}>${(kept) => html`<${Health} kept=${kept} /><div class="panels">${Object.entries(panelsOf(kept)).map(([title, names]) => html`<${Panel} key=${title} title=${title} names=${names} kept=${kept} />`)}</div>`}<//></div>`;
}

function keptOf({ startedAtMs, everyMs, atMs, series }) {
  return { startedAtMs, everyMs, atMs, series: Object.fromEntries(series.map((one) => [one.name, one])) };
}

function withSample(kept, { type, data }) {
  if (type === "snapshot" && data.startedAtMs !== kept.startedAtMs) return { ...kept, startedAtMs: data.startedAtMs };
  if (!data.atMs || data.atMs <= (kept.atMs.at(-1) ?? 0)) return kept;
  const from = kept.atMs.findIndex((at) => at > data.atMs - HOUR_MS);
  const series = Object.fromEntries(Object.entries(kept.series).map(([name, one]) => [name, { ...one, values: [...one.values.slice(from), data.values[name] ?? null] }]));
  return { ...kept, atMs: [...kept.atMs.slice(from), data.atMs], series };
}

// Series that no panel names stand in panels of their own, so that a new one is seen without a change here.
function panelsOf({ series }) {
  const named = new Set(Object.values(PANELS).flat());
  const known = Object.entries(PANELS).map(([title, names]) => [title, names.filter((name) => series[name])]).filter(([, names]) => names.length);
  return Object.fromEntries([...known, ...Object.keys(series).filter((name) => !named.has(name)).map((name) => [name, [name]])]);
}

function Health({ kept }) {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const lastMs = kept.atMs.at(-1);
  const isOld = connection.value.state !== "live" || (lastMs && nowMs - lastMs > LATE * kept.everyMs);
  const health = healthOf(Object.fromEntries(Object.entries(kept.series).map(([name, { values }]) => [name, values.at(-1)])));
  const words = isOld ? "metrics.old" : health;
  return html`<p class=${`banner ${isOld ? "old" : health === "metrics.well" ? "" : "failing"}`} role="status">${say(words)} <span class="dim">${say("metrics.since")} <${When} at=${kept.startedAtMs} />${lastMs && html` · ${say("metrics.newest")} ${clockTime(lastMs)}`}</span></p>`;
}

function Panel({ title, names, kept }) {
  const box = useRef(null);
  const chart = useRef(null);
  const words = sayOf("metrics.panel", title, kept.series[names[0]].says);
  const { unit } = kept.series[names[0]];
  const data = [kept.atMs.map((at) => at / 1000), ...names.map((name) => kept.series[name].values)];
  useEffect(() => {
    let isGone = false;
    import("../../ui/chart.js").then(({ draw }) => { if (!isGone) chart.current = draw(box.current, names.map((name) => sayOf("metrics.series", name)), (value) => shown(unit, value), data); });
    return () => {
      isGone = true;
      chart.current?.destroy();
    };
  }, [names.join()]);
  useEffect(() => { chart.current?.setData(data); }, [kept.atMs]);
  return html`<figure class="panel"><figcaption>${words}</figcaption><div ref=${box} aria-hidden="true"></div>
    <p class="dim">${names.map((name) => `${sayOf("metrics.series", name)} ${shown(unit, kept.series[name].values.at(-1))}`).join(" · ")}</p></figure>`;
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
