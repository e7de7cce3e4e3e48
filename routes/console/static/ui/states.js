// How every part of every page looks while it is loading, empty, refused, broken, or old.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { me } from "../session.js";
import { say, sayOf } from "../words.js";
import { copyText } from "./chip.js";

/**
 * Show what was read, or why there is nothing to show. What is there stays in sight while it is read again, and while
 * reading again fails.
 *
 * @param {{of: {data: any, error: Error|null, isLoading: boolean, reload: () => void}, children: (data: any) => any}} props
 */
export function State({ of: { data, error, isLoading, reload }, children }) {
  if (data !== null && data !== undefined) {
    return html`${error && html`<${Fault} error=${error} retry=${reload} />`}${children(data)}`;
  }
  if (error) return html`<${Fault} error=${error} retry=${reload} isWhole />`;
  return isLoading ? html`<${Loading} />` : null;
}

/**
 * What adds the next page to a list, or says why that has failed.
 *
 * @param {{of: ReturnType<typeof import("../store.js").useList>, words?: string}} props
 */
export function More({ of: { hasMore, isGoingOn, more, moreError }, words = say("notifications.older") }) {
  if (!hasMore) return null;
  return html`<button type="button" disabled=${isGoingOn} onClick=${more}>${words}</button>
    ${moreError && html`<${Fault} error=${moreError} retry=${more} />`}`;
}

/** A skeleton that appears after 150 ms, so that what is quick never flickers. */
export function Loading() {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return html`<div class="loading" aria-busy="true"></div>`;
  return html`<div class="loading" role="status" aria-label=${say("state.loading")}>
    ${[70, 90, 55].map((width) => html`<span class="bone" style=${{ width: `${width}%` }}></span>`)}
  </div>`;
}

/** Nothing is there yet: one sentence, and the action that ends it. */
export const Empty = ({ children, action = null }) => html`<div class="empty"><p>${children}</p>${action}</div>`;

/**
 * Something was refused or has failed: what, the service's words, its code, the request's id, and another try.
 *
 * @param {{error: Error, retry?: () => unknown, isWhole?: boolean}} props `isWhole` where nothing else is shown.
 */
export function Fault({ error, retry, isWhole = false }) {
  const [leftMs, setLeft] = useState(error.retryAfterMs ?? 0);
  useEffect(() => {
    if (!error.retryAfterMs) return undefined;
    const until = Date.now() + error.retryAfterMs;
    setLeft(error.retryAfterMs);
    const timer = setInterval(() => {
      setLeft(Math.max(0, until - Date.now()));
      if (Date.now() >= until) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [error]);
  return html`<div class=${isWhole ? "fault whole" : "fault"} role="alert">
    <p><strong>${titleOf(error)}</strong> ${explain(error)}</p>
    ${error.requestId && html`<p class="dim">${error.code} · <button type="button" class="link" onClick=${() => copyText(error.requestId)}>${say("fault.request", { id: error.requestId })}</button></p>`}
    ${retry && html`<button type="button" disabled=${leftMs > 0} onClick=${retry}>
      ${leftMs > 0 ? say("action.retryIn", { count: Math.ceil(leftMs / 1000) }) : say("action.retry")}</button>`}
  </div>`;
}

/** One line about what went wrong, for forms and buttons. */
export const Complaint = ({ error }) => html`<p class="bad" role="alert">${error ? explain(error) : ""}</p>`;

function titleOf(error) {
  if (error.code === "UNREACHABLE") return say("fault.unreachable");
  return sayOf("fault.status", error.status, say("fault.other"));
}

function explain(error) {
  const right = error.meta?.permission;
  if (error.status === 403 && right) return say("fault.missingRight", { right, name: me.value?.name ?? "" });
  return sayOf("fault.code", error.code, error.message);
}
