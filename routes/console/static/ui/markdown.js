// Articles, drawn from their Markdown: headings, lists, quotes, code and paragraphs become elements; all else stays text.
import { html } from "../html.js";
import { rich } from "./rich.js";

const LIST = /^\s*(?:[-*+]|\d+[.)])\s+/;

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
  if (/^#{1,6} /.test(first)) return html`<h2>${rich(first.replace(/^#+ /, ""))}</h2>`;
  if (lines.every((line) => LIST.test(line))) return html`<ul>${lines.map((line) => html`<li>${rich(line.replace(LIST, ""))}</li>`)}</ul>`;
  if (lines.every((line) => line.startsWith(">"))) return html`<blockquote>${rich(lines.map((line) => line.replace(/^> ?/, "")).join("\n"))}</blockquote>`;
  return html`<p class="text">${rich(lines.join("\n"))}</p>`;
}
