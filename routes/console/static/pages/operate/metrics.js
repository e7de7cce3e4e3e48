// Whether the service is well: a sentence, and an hour of what it counts, live.
import { useEffect, useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useChannel, useSilence } from "../../live.js";
import { useRead } from "../../store.js";
import { healthOf } from "../../ui/health.js";
import { State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { clockTime, listed, say } from "../../words.js";
import { gapsOf, isLate, keptOf, withFrame } from "./metric-history.js";
import { Panel } from "./metric-panel.js";

const LOOK_MS = 1_000;

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
  const read = useRead((signal) => admin.metrics(signal).then((found) => keptOf(found, Date.now())));
  useChannel("metrics", (frames) => read.change((before) => frames.reduce((kept, frame) => withFrame(kept, frame, Date.now()), before)), { mode: "delta" });
  return html`<div class="page wide scrolls"><h1 tabindex="-1">${say("metrics.title")}</h1><${State} of=${read}>${(kept) => html`<${Hour} kept=${kept} />`}<//></div>`;
}

function Hour({ kept }) {
  const isOld = useIsOld(kept);
  return html`<${Health} kept=${kept} isOld=${isOld} /><${Breaks} kept=${kept} />
    <div class=${isOld ? "panels old" : "panels"}>${Object.entries(panelsOf(kept)).map(([title, names]) => html`<${Panel} key=${`${title} ${names}`} title=${title} names=${names} kept=${kept} />`)}</div>`;
}

// Old where the service is silent, and where samples stay away although it is not.
function useIsOld(kept) {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return useSilence() || isLate(kept, nowMs);
}

// Series that no panel names stand in panels of their own, so that a new one is seen without a change here.
function panelsOf({ series }) {
  const named = new Set(Object.values(PANELS).flat());
  const known = Object.entries(PANELS).map(([title, names]) => [title, names.filter((name) => series[name])]).filter(([, names]) => names.length);
  return Object.fromEntries([...known, ...Object.keys(series).filter((name) => !named.has(name)).map((name) => [name, [name]])]);
}

function Health({ kept, isOld }) {
  const lastMs = kept.atMs.at(-1);
  const health = healthOf(Object.fromEntries(Object.entries(kept.series).map(([name, { values }]) => [name, values.at(-1)])));
  return html`<div class=${`banner ${isOld ? "old" : health === "metrics.well" ? "" : "failing"}`}><span role="status">${say(isOld ? "metrics.old" : health)}</span> <span class="dim">${say("metrics.since")} <${When} at=${kept.startedAtMs} />${lastMs && html` · ${say("metrics.newest")} ${clockTime(lastMs)}`}</span></div>`;
}

// What the marks in the charts are, in words.
function Breaks({ kept }) {
  const gaps = gapsOf(kept);
  if (kept.restartsMs.length === 0 && gaps.length === 0) return null;
  return html`<ul class="dim">${kept.restartsMs.length > 0 && html`<li>${say("metrics.started", { count: kept.restartsMs.length, times: listed(kept.restartsMs.map(clockTime)) })}</li>`}
    ${gaps.map(({ fromMs, toMs }) => html`<li key=${fromMs}>${say("metrics.gap", { from: clockTime(fromMs), to: clockTime(toMs) })}</li>`)}</ul>`;
}
