// Whether the service is well, by the newest of what it counts.

/** The key of a sentence. @param {Record<string, number|null|undefined>} values {series: its newest value} */
export function healthOf({ databaseAvailable, requestsFailed }) {
  if (databaseAvailable === 0) return "metrics.away";
  return requestsFailed > 0 ? "metrics.failing" : "metrics.well";
}
