// Lengths of time and prices, as the language that is shown writes them.
import { language } from "../words.js";

/** A length of time in milliseconds, in its largest unit. */
export function duration(ms) {
  const units = [["millisecond", 1000], ["second", 60], ["minute", 60], ["hour", 24], ["day", Infinity]];
  let value = ms;
  for (const [unit, size] of units) {
    if (value < size) return new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits: value < 10 && unit !== "millisecond" ? 1 : 0 }).format(value);
    value /= size;
  }
  return "";
}

/** A price in the smallest unit of its currency, such as "€ 4.99". */
export function money({ amount, currency }) {
  const format = new Intl.NumberFormat(language, { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}
