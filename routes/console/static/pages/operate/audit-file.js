// The audit trail as a file: all pages of what is filtered, up to a bound that is said.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { saveCsv } from "../../ui/csv.js";
import { Complaint } from "../../ui/states.js";
import { say } from "../../words.js";

const MOST = 10_000;
const PAGE = 200; // as many as the service gives at once
const COLUMNS = ["at", "action", "actorId", "actorName", "targetId", "targetName", "requestId", "detail"];

/** @param {{wanted: Record<string, string|null>}} props the filters. */
export function AuditFile({ wanted }) {
  const aborting = useRef(null);
  const saved = useRef([]); // Browsers read on from such an address after the click: it is kept as long as the page.
  const [said, tell] = useState("");
  useLayoutEffect(() => () => {
    aborting.current?.abort();
    saved.current.forEach((address) => URL.revokeObjectURL(address));
  }, []);
  const save = useAction(async () => {
    aborting.current = new AbortController();
    const { signal } = aborting.current;
    try {
      const { items, isCut } = await everything(wanted, signal, (count) => tell(say("audit.reading", { count })));
      saved.current.push(saveCsv("audit.csv", [COLUMNS, ...items.map((entry) => COLUMNS.map((name) => (name === "detail" ? JSON.stringify(entry.detail ?? {}) : entry[name])))]));
      tell(say(isCut ? "audit.cut" : "audit.saved", { count: items.length }));
    } catch (error) {
      tell("");
      if (!signal.aborted) throw error;
    }
  });
  return html`<button type="button" disabled=${save.isRunning} onClick=${() => save.run()}>${say("audit.file")}</button>
    ${save.isRunning && html`<button type="button" onClick=${() => aborting.current.abort()}>${say("action.cancel")}</button>`}
    <p class="dim" role="status">${said}</p><${Complaint} error=${save.error} />`;
}

async function everything(wanted, signal, tell) {
  const items = [];
  let cursor = null;
  do {
    const page = await admin.audit({ ...wanted, limit: Math.min(PAGE, MOST - items.length), cursor }, signal);
    items.push(...page.items);
    cursor = page.nextCursor;
    tell(items.length);
  } while (cursor && items.length < MOST);
  return { items, isCut: Boolean(cursor) };
}
