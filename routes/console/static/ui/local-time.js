// Moments in fields of `datetime-local`, which know no time zone: they say the one of this device.

/** The latest moment that such a field takes, as its `max`: without it browsers let years have six digits, which no moment has. */
export const LATEST = "9999-12-31T23:59";

/** What such a field shows of a moment; empty for none. @param {Date|string|null} moment */
export function localOf(moment) {
  if (!moment) return "";
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The moment that such a field says, as the interface wants it; null where it is empty. @param {string} text */
export const momentOf = (text) => (text ? new Date(text).toISOString() : null);
