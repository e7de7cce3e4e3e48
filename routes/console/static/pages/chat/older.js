// The conversations that the inbox does not reach: it has the newest alone.
import { useEffect, useRef } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { useList } from "../../store.js";
import { More, State } from "../../ui/states.js";

const PAGE = 200;

/** @param {{above: any[], id?: string, draw: (conversation: any) => any}} props what the inbox shows, which is open, what draws one. */
export function Older({ above, id, draw }) {
  const list = useList((query, signal) => chat.list({ limit: PAGE, ...query }, signal));
  const shown = new Set(above.map(({ id }) => id));
  // What is newer than the inbox's oldest and not in it has been left meanwhile; times of the service sort as texts.
  const until = above.at(-1).updatedAt;
  const older = (list.items ?? []).filter((one) => !shown.has(one.id) && one.updatedAt <= until);
  // Whoever opens one reads it; if more comes into it, it is the inbox's again.
  const opened = useRef(new Set()).current.add(id);
  const drawn = older.map((one) => draw(opened.has(one.id) ? { ...one, unreadCount: 0 } : one));
  // The list begins with what is above.
  const isBefore = older.length === 0 && list.hasMore && !list.isGoingOn && !list.moreError;
  useEffect(() => { if (isBefore) list.more(); }, [isBefore]);
  return html`<${State} of=${list}>${() => html`<ul>${drawn}</ul><${More} of=${list} />`}<//>`;
}
