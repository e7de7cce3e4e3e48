// Every word that is shown, from text/<language>.json, and numbers and dates as that language writes them.

const KEY = "partyline-language";
const FALLBACK = "en";

/** {code of a language that there are words of: what it calls itself}. */
export const LANGUAGES = { en: "English", de: "Deutsch" };

/** The language that is shown: what this browser has chosen here, else the first of its own that there is. */
export const language = [localStorage.getItem(KEY), ...navigator.languages.map((one) => one.slice(0, 2))].find((one) => Object.hasOwn(LANGUAGES, one)) ?? FALLBACK;

/** Choose a language, for this browser; every page begins anew with it. */
export function setLanguage(code) {
  localStorage.setItem(KEY, code);
  location.reload();
}

const words = {};
const loading = new Map(); // {part: promise of its words being there}

/**
 * Have the words of a group of pages there; what the language lacks is shown in English.
 *
 * @param {string} part of the file's name: `run` is `text/<language>.run.json`; empty for what every page needs.
 * @returns {Promise<void>} rejects where they cannot be fetched; the next call tries again.
 */
export function loadWords(part) {
  if (!loading.has(part)) loading.set(part, fetchWords(part).catch((error) => { loading.delete(part); throw error; }));
  return loading.get(part);
}

async function fetchWords(part) {
  const files = await Promise.all([...new Set([FALLBACK, language])].map((code) => fetchFile(`./text/${[code, part].filter(Boolean).join(".")}.json`)));
  Object.assign(words, ...files);
}

async function fetchFile(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${response.status} for ${name}`);
  return response.json();
}

await loadWords("");
const plural = new Intl.PluralRules(language);

document.documentElement.lang = language;

// Blocks of scripts that are written from the right (Unicode, UAX 9), those beyond U+FFFF by their first halves; and signs
// that turn what follows around: no name has any but the mark, and notes and settings may.
const TURNING = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\ud802\ud803\ud83a\ud83b]/;

/** What `<bdi>` does, for what is no markup: dialogs, toasts, labels, options. Nothing searches or copies what this makes. */
export const isolated = (text) => (TURNING.test(text) ? `\u2068${text}\u2069` : text);

/**
 * The words under a key, with `{name}` replaced by values. An entry of several forms is chosen by `count`. A value that
 * is written from the right is isolated, so that the sentence around it keeps its order.
 *
 * @param {string} key
 * @param {Record<string, string|number>} [values]
 */
export function say(key, values = {}) {
  const entry = words[key];
  if (entry === undefined) throw new Error(`no words for ${key}`);
  const text = typeof entry === "string" ? entry : entry[plural.select(values.count)] ?? entry.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : isolated(values[name])));
}

/**
 * The words under a key with what stands in them as it is: `<bdi>` around a name, so that it turns nothing around.
 *
 * @param {string} key of one form.
 * @param {Record<string, any>} values what `html` makes, or text.
 * @returns {any[]} for `html`.
 */
export const sayAround = (key, values) => say(key, Object.fromEntries(Object.keys(values).map((name) => [name, `{${name}}`])))
  .split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] : part));

/** Whether there are words for a key; for codes and kinds that the service may add to. */
export const knows = (key) => words[key] !== undefined;

/** The words for one of a family (`fault.` and a code, say), or what `otherwise` says where there are none. */
export const sayOf = (family, name, otherwise = name) => (knows(`${family}.${name}`) ? say(`${family}.${name}`) : otherwise);

const numbers = new Intl.NumberFormat(language);
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "narrow" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
const whole = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "medium" });
const list = new Intl.ListFormat(language, { type: "conjunction" });

export const number = (value) => numbers.format(value);
export const clockTime = (at) => clock.format(new Date(at));
export const day = (at) => date.format(new Date(at));
export const exactTime = (at) => whole.format(new Date(at));
export const listed = (texts) => list.format(texts.map(isolated));

const UNITS = [["second", 60], ["minute", 60], ["hour", 24], ["day", 30], ["month", 12], ["year", Infinity]];

/** A duration from the service's now, such as "5 min. ago" or "in 2 hr.". */
export function fromNow(at, nowMs) {
  let value = (new Date(at).getTime() - nowMs) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(value) < size) return relative.format(Math.trunc(value), unit);
    value /= size;
  }
  return day(at);
}

/** An amount of bytes, such as "1.5 MB". */
export function bytes(amount) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  let value = amount;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return new Intl.NumberFormat(language, { style: "unit", unit: units[unit], maximumFractionDigits: value < 10 && unit ? 1 : 0 }).format(value);
}
