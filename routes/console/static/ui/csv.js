// A table as a file: for spreadsheets, which take what begins like a formula for one.
const BOM = "\ufeff"; // or some take UTF-8 for something else

/**
 * Lines of comma-separated values (RFC 4180).
 *
 * What begins with `=`, `+`, `-`, `@`, a tab or a line break would be a formula in a spreadsheet: an apostrophe before it
 * makes it a text again.
 *
 * @param {Array<Array<string|number|null>>} rows the first is the head.
 */
export function csvOf(rows) {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

function cellOf(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Have the browser save rows as a file. Returns the address that it reads from: whoever has it revokes it. */
export function saveCsv(name, rows) {
  const address = URL.createObjectURL(new Blob([BOM, csvOf(rows)], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  return address;
}
