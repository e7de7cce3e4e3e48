// Articles, drawn from their Markdown: headings, lists, quotes, code, tables, links and paragraphs become elements; all
// else stays text.
import { html } from "../html.js";
import { rich } from "./rich.js";

const LIST = /^\s*(?:[-*+]|\d+[.)])\s+/;
const RULE = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
const LINK = /(!?\[[^[\]\n]*\]\((?:https:\/\/|mailto:)[^\s()<>]+\))/;
const PARTS = /^!?\[([^\]]*)\]\((.+)\)$/;

/** @param {{text: string}} props */
export const Markdown = ({ text }) => html`<div class="prose" dir="auto">${blocksOf(text).map(drawn)}</div>`;

// Blocks are told apart by empty lines, but for what stands between two fences.
function blocksOf(text) {
  const blocks = [];
  let block = [];
  let isFenced = false;
  const end = () => {
    if (block.length) blocks.push(block);
    block = [];
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      if (!isFenced) end();
      block.push(line);
      if (isFenced) end();
      isFenced = !isFenced;
    } else if (!isFenced && line.trim() === "") end();
    else {
      if (!isFenced && /^#{1,6} /.test(line)) end();
      block.push(line);
      if (!isFenced && /^#{1,6} /.test(line)) end();
    }
  }
  end();
  return blocks;
}

function drawn(lines) {
  const [first] = lines;
  if (first.startsWith("```")) return html`<pre tabindex="0">${lines.slice(1, lines.at(-1).startsWith("```") ? -1 : undefined).join("\n")}</pre>`;
  if (/^#{1,6} /.test(first)) return html`<h2>${linked(first.replace(/^#+ /, ""))}</h2>`;
  if (lines.every((line) => LIST.test(line))) return html`<ul>${lines.map((line) => html`<li>${linked(line.replace(LIST, ""))}</li>`)}</ul>`;
  if (lines.every((line) => line.startsWith(">"))) return html`<blockquote>${linked(lines.map((line) => line.replace(/^> ?/, "")).join("\n"))}</blockquote>`;
  if (first.includes("|") && RULE.test(lines[1]?.trim() ?? "") && cellsOf(first).length === cellsOf(lines[1]).length) return table(lines);
  return html`<p class="text">${linked(lines.join("\n"))}</p>`;
}

// Pictures of other hosts are not loaded here, so they are links as well.
const linked = (text) => text.split(LINK).map((piece, place) => {
  if (place % 2 === 0) return rich(piece);
  const [, words, address] = PARTS.exec(piece);
  return html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${words || address}</a>`;
});

const cellsOf = (line) => line.trim().replace(/^\|/, "").replace(/\|$/, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

// A row has as many cells as the first: what is missing is empty, what is too much is left out.
function table([first, , ...rows]) {
  const names = cellsOf(first);
  return html`<div class="scrolled" tabindex="0"><table><thead><tr>${names.map((name) => html`<th scope="col">${linked(name)}</th>`)}</tr></thead>
    <tbody>${rows.map(cellsOf).map((cells) => html`<tr>${names.map((_, place) => html`<td>${linked(cells[place] ?? "")}</td>`)}</tr>`)}</tbody></table></div>`;
}
