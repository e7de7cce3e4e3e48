// Putting a list in another order by dragging its rows. Whoever uses it has buttons that do the same (WCAG 2.5.7).
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";

const EDGE_PX = 48;
const STEP_PX = 12;

/**
 * @param {string[]} ids of the rows, in their order.
 * @param {(ids: string[]) => unknown} moved is told the new order when a row is let go.
 * @returns {{list: any, order: string[], dragged: string|null, begin: (id: string, event: PointerEvent) => void}} `list`
 *   is the ref of the element that has the rows, `order` how they stand now, also while one is dragged.
 */
export function useDragging(ids, moved) {
  const list = useRef(null);
  const [drag, setDrag] = useState(null); // {id, order}
  const latest = useRef(null);
  latest.current = { drag, ids, moved };
  useEffect(() => {
    if (!drag) return undefined;
    const move = ({ clientY }) => {
      setDrag((before) => before && { ...before, order: putAt(before.order, before.id, placeOf(list.current, clientY)) });
      if (clientY < EDGE_PX) scrollBy(0, -STEP_PX);
      if (clientY > innerHeight - EDGE_PX) scrollBy(0, STEP_PX);
    };
    const end = () => {
      const { drag: { order }, ids: before, moved: tell } = latest.current;
      setDrag(null);
      if (order.join() !== before.join()) tell(order);
    };
    const cancel = ({ type, key }) => { if (type !== "keydown" || key === "Escape") setDrag(null); };
    const stopping = new AbortController();
    const { signal } = stopping;
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", end, { signal });
    addEventListener("pointercancel", cancel, { signal });
    addEventListener("keydown", cancel, { signal });
    return () => stopping.abort();
  }, [drag !== null]);
  const begin = (id, event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // nothing is selected on the way
    setDrag({ id, order: ids });
  };
  return { list, order: drag?.order ?? ids, dragged: drag?.id ?? null, begin };
}

/** What a row is taken by. @param {{of: ReturnType<typeof useDragging>, id: string}} props */
export const Handle = ({ of, id }) => html`<span class="handle" aria-hidden="true" onPointerDown=${(event) => of.begin(id, event)}>⠿</span>`;

// The row whose middle is the last above the pointer, or the first.
function placeOf(list, y) {
  const middles = [...list.children].map((row) => row.getBoundingClientRect()).map(({ top, height }) => top + height / 2);
  const next = middles.findIndex((middle) => y < middle);
  return next < 0 ? middles.length : next;
}

function putAt(order, id, place) {
  const from = order.indexOf(id);
  const others = order.filter((one) => one !== id);
  others.splice(place > from ? place - 1 : place, 0, id);
  return others;
}
