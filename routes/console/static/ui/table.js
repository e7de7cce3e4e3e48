// A table of any length: only the rows in sight are in the page, each a box of its own that is moved, not laid out anew.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";

const ROW_PX = 36;
const BESIDE = 8;

/**
 * @param {object} props
 * @param {string} props.label
 * @param {Array<{name: string, label: string, width: string, isNumber?: boolean, isSorted?: boolean,
 *   cell?: (item: any) => any}>} props.columns `isSorted` where a click on the head sorts by it.
 * @param {any[]} props.items
 * @param {(item: any) => string} props.keyOf
 * @param {{by: string, isDown: boolean}} [props.order]
 * @param {(by: string) => void} [props.onSort]
 * @param {(item: any) => void} [props.onOpen] a click on a row, or Enter on it.
 * @param {(item: any) => string} [props.classOf]
 */
export function Table({ label, columns, items, keyOf, order, onSort, onOpen, classOf }) {
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setHeight(entry.contentRect.height));
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  const from = Math.max(0, Math.min(Math.floor(top / ROW_PX) - BESIDE, items.length));
  const to = Math.min(items.length, Math.ceil((top + height) / ROW_PX) + BESIDE);
  const template = { "grid-template-columns": columns.map((column) => column.width).join(" ") };
  return html`<div class="table" role="region" aria-label=${label} tabindex="0" ref=${box} onScroll=${(event) => setTop(event.currentTarget.scrollTop)}>
    <div role="table" aria-label=${label} aria-rowcount=${items.length + 1} class="grid">
      <div role="rowgroup" class="head"><div role="row" aria-rowindex="1" style=${template}>
        ${columns.map((column) => html`<${Head} column=${column} order=${order} onSort=${onSort} />`)}
      </div></div>
      <div role="rowgroup" class="rows" style=${{ height: `${items.length * ROW_PX}px` }}>
        ${items.slice(from, to).map((item, n) => html`<${Row} key=${keyOf(item)} item=${item} index=${from + n} columns=${columns}
          template=${template} onOpen=${onOpen} className=${classOf?.(item) ?? ""} />`)}
      </div>
    </div>
  </div>`;
}

function Head({ column, order, onSort }) {
  const sorted = order?.by === column.name ? (order.isDown ? "descending" : "ascending") : null;
  return html`<span role="columnheader" class=${column.isNumber ? "num" : ""} aria-sort=${sorted}>
    ${column.isSorted && onSort ? html`<button type="button" onClick=${() => onSort(column.name)}>${column.label}</button>` : column.label}
  </span>`;
}

function Row({ item, index, columns, template, onOpen, className }) {
  const cells = columns.map((column) => html`<span role="cell" class=${column.isNumber ? "num" : ""}>
    ${column.cell ? column.cell(item) : item[column.name]}</span>`);
  const opening = onOpen && {
    tabindex: 0,
    onClick: (event) => { if (!event.target.closest("a, button, input, select")) onOpen(item); },
    onKeyDown: (event) => { if (event.key === "Enter" && event.target === event.currentTarget) onOpen(item); },
  };
  return html`<div role="row" aria-rowindex=${index + 2} class=${`row ${className} ${onOpen ? "opens" : ""}`} ...${opening}
    style=${{ ...template, transform: `translateY(${index * ROW_PX}px)` }}>${cells}</div>`;
}
