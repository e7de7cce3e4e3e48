// The last hour of what the service counts, as pure functions of what was read and of the channel `metrics`.

const HOUR_MS = 3_600_000;

/** More than so many intervals without a sample are a gap. */
const GAP = 2.5;

/**
 * What was read, as the page keeps it.
 *
 * @returns {{everyMs: number, atMs: number[], series: Record<string, {name: string, unit: string, says: string,
 *   values: Array<number|null>}>, startedAtMs: number, restartsMs: number[], heardAtMs: number}} `restartsMs` are the starts of
 *   the process that fall into the hour; `heardAtMs` is when the newest sample came, by this machine's clock.
 */
export function keptOf({ startedAtMs, everyMs, atMs, series }, nowMs) {
  const kept = { startedAtMs, everyMs, atMs, restartsMs: [startedAtMs], heardAtMs: nowMs, series: Object.fromEntries(series.map((one) => [one.name, one])) };
  return trimmed(kept);
}

/** With a frame of the channel: a new sample, or the start of another process. */
export function withFrame(kept, { type, data }, nowMs) {
  const isRestart = type === "snapshot" && data.startedAtMs !== kept.startedAtMs;
  const known = isRestart ? { ...kept, startedAtMs: data.startedAtMs, restartsMs: [...kept.restartsMs, data.startedAtMs] } : kept;
  if (!data.atMs || data.atMs <= (known.atMs.at(-1) ?? 0)) return trimmed(known);
  const series = Object.fromEntries(Object.entries(known.series).map(([name, one]) => [name, { ...one, values: [...one.values, data.values[name] ?? null] }]));
  return trimmed({ ...known, heardAtMs: nowMs, atMs: [...known.atMs, data.atMs], series });
}

/** Stretches without samples: [{fromMs, toMs}]. */
export function gapsOf({ atMs, everyMs }) {
  return atMs.slice(1).flatMap((at, n) => (at - atMs[n] > GAP * everyMs ? [{ fromMs: atMs[n], toMs: at }] : []));
}

/** Whether samples are missing now, so that what is seen is old. */
export const isLate = ({ heardAtMs, everyMs }, nowMs) => nowMs - heardAtMs > 1.5 * everyMs;

/**
 * Lines for a chart: seconds, then the values of each series. A line breaks where there is a gap.
 *
 * @param {string[]} names of the series.
 */
export function linesOf(kept, names) {
  const broken = new Set(gapsOf(kept).map(({ fromMs }) => fromMs));
  const lines = [[], ...names.map(() => [])];
  kept.atMs.forEach((at, n) => {
    lines[0].push(at / 1000);
    names.forEach((name, of) => lines[of + 1].push(kept.series[name].values[n]));
    if (!broken.has(at)) return;
    lines[0].push((at + kept.everyMs) / 1000);
    names.forEach((_, of) => lines[of + 1].push(null));
  });
  return lines;
}

/** The last sample of each minute, newest first: [{atMs, values}]. */
export function minutesOf({ atMs, series }, names) {
  const minutes = new Map(atMs.map((at, n) => [Math.floor(at / 60_000), n]));
  return [...minutes.values()].reverse().map((n) => ({ atMs: atMs[n], values: names.map((name) => series[name].values[n]) }));
}

/** {now, low, high} of a series. */
export function extremesOf({ values }) {
  const known = values.filter((value) => value !== null);
  return { now: values.at(-1) ?? null, low: known.length ? Math.min(...known) : null, high: known.length ? Math.max(...known) : null };
}

function trimmed(kept) {
  const beginMs = (kept.atMs.at(-1) ?? 0) - HOUR_MS;
  const from = kept.atMs.findIndex((at) => at > beginMs);
  const restartsMs = kept.restartsMs.filter((at) => at > beginMs);
  if (from <= 0) return { ...kept, restartsMs };
  const series = Object.fromEntries(Object.entries(kept.series).map(([name, one]) => [name, { ...one, values: one.values.slice(from) }]));
  return { ...kept, restartsMs, atMs: kept.atMs.slice(from), series };
}
