// JSON whose numbers stay as they are written. JavaScript's own are exact up to 2^53, and the seeds and ids of game servers
// are longer. A browser without `JSON.rawJSON` (Safari before 18.4, Firefox before 135) rounds them.

// Counts as the number that is nearest, and is shown and sent as it was written.
class Written extends Number {
  constructor(text) {
    super(text);
    this.text = text;
  }

  toString() {
    return this.text;
  }

  toJSON() {
    return JSON.rawJSON(this.text);
  }
}

const canKeep = "rawJSON" in JSON;

const kept = (key, value, { source } = {}) => (typeof value === "number" && String(value) !== source ? new Written(source) : value);

/** What a text of JSON says. @param {string} text */
export const parse = (text) => JSON.parse(text, canKeep ? kept : undefined);

/** What the body of a response says. @param {Response} response */
export const read = async (response) => parse(await response.text());

/** The number that a text says, with all its digits; the text itself where it says none. @param {string} text */
export function numberOf(text) {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  return canKeep && WHOLE.test(text) && !Number.isSafeInteger(value) ? new Written(text.replace(LEADING_ZEROS, "$1")) : value;
}

const WHOLE = /^-?\d+$/;
const LEADING_ZEROS = /^(-?)0+/;
