// The frame around the pages: navigation, state of the connection, who is signed in, and the page of the address.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { connection, useShared } from "./live.js";
import { GROUPS, PAGES } from "./pages.js";
import { match, place } from "./router.js";
import { MODERATOR, may, me, signOut } from "./session.js";
import { useAction } from "./store.js";
import { announce } from "./ui/announce.js";
import { isLetter } from "./ui/keys.js";
import { Complaint, Fault, Loading } from "./ui/states.js";
import { Name } from "./ui/face.js";
import { ThemeChoice } from "./ui/theme.js";
import { When } from "./ui/when.js";
import { number, say } from "./words.js";

/** What is shown to whoever is signed in. */
export function Shell() {
  const found = find(place.value.path);
  const leave = useAction(signOut);
  return html`<a class="skip" href="#main">${say("shell.skip")}</a>
    <header class="side">
      <a class="brand" href="/app">Partyline</a>
      <button type="button" class="finding" onClick=${() => { finding.value = "palette"; }}>${say("palette.open")} <kbd>Ctrl K</kbd></button>
      <${Navigation} path=${found?.page.path} />
      <div class="who">
        <${Connection} />
        <a class="self" href="/app/profile"><${Name}>${me.value.name}<//></a>
        <${ThemeChoice} />
        <button type="button" disabled=${leave.isRunning} onClick=${() => leave.run()}>${say("action.signOut")}</button>
        ${leave.error && html`<${Complaint} error=${leave.error} />`}
      </div>
    </header>
    <${Page} key=${found?.page.path ?? "none"} found=${found} /><${Finding} />`;
}

// What is open over the page: "palette", "keys", or null.
const finding = signal(null);

function find(path) {
  for (const page of PAGES) {
    const parts = match(page.path, path);
    if (parts) return { page, parts };
  }
  return null;
}

// Finding anything (Ctrl+K) and the list of keys (?). What draws them is loaded when somebody first asks.
function Finding() {
  const [views, setViews] = useState(null);
  useEffect(() => { if (finding.value && !views) import("./ui/palette.js").then(setViews, () => { finding.value = null; }); }, [finding.value]);
  useEffect(() => {
    const press = (event) => {
      import("./ui/lost-focus.js").catch(() => {});
      const isFind = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (!isFind && !(event.key === "?" && isLetter(event))) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) finding.value = isFind ? "palette" : "keys";
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => () => { finding.value = null; }, []);
  if (!views || !finding.value) return null;
  const close = () => { finding.value = null; };
  return finding.value === "palette" ? html`<${views.Palette} close=${close} showKeys=${() => { finding.value = "keys"; }} />` : html`<${views.Keys} close=${close} />`;
}

// A double click sends a form once, and is for what had its first click: not for what has come to its place since, such as
// the next row.
let clicked = new WeakRef(document);
addEventListener("click", (event) => {
  const target = event.target.closest("button, a") ?? document;
  if (event.detail > 1 && (target !== clicked.deref() || target.type === "submit")) {
    event.preventDefault();
    event.stopPropagation();
  } else clicked = new WeakRef(target);
}, true);

// {name of a page's title: how many things wait there}; these channels also keep the connection open on every page.
function useWaiting() {
  const queues = useShared(may(MODERATOR) || may("capes:moderate") ? "moderation" : null).data;
  const [inbox, friends, party, notifications] = ["inbox", "friends", "party", "notifications"].map((name) => useShared(name).data);
  return {
    "chat.title": inbox?.totals.unread ?? 0,
    "friends.title": friends?.requests.incoming.length ?? 0,
    "party.title": party?.invites.filter((invite) => invite.direction === "incoming").length ?? 0,
    "notifications.title": notifications?.unread ?? 0,
    "reports.title": queues?.reports ?? 0,
    "moderation.capes": queues?.capes ?? 0,
  };
}

function Navigation({ path }) {
  const [isOpen, open] = useState(false);
  const waiting = useWaiting();
  useEffect(() => open(false), [place.value.path]);
  return html`<button type="button" class="menu" aria-expanded=${isOpen} aria-controls="navigation" onClick=${() => open(!isOpen)}>${say("shell.menu")}</button>
    <nav id="navigation" class=${isOpen ? "open" : ""} aria-label=${say("shell.navigation")}>
    ${GROUPS.map((group) => {
      const pages = PAGES.filter((page) => page.group === group && may(page.needs));
      return pages.length > 0 && html`<section><h2 id=${`group-${group}`}>${say(`group.${group}`)}</h2>
        <ul aria-labelledby=${`group-${group}`}>${pages.map((page) => html`<li key=${page.path}>
          <a href=${page.path.replace(/\/:.*$/, "")} aria-current=${page.path === path ? "page" : null}>${say(page.title)}
            ${waiting[page.title] > 0 && html`<span class="badge">${number(waiting[page.title])}<span class="hidden"> ${say("shell.waiting")}</span></span>`}</a></li>`)}</ul></section>`;
    })}
  </nav>`;
}

const SAID = { live: "connection.live", connecting: "connection.connecting", waiting: "connection.waiting", closed: "connection.closed" };

// Always in sight: a page that is not live says so, and since when. The time ticks, and is not read out each time.
function Connection() {
  const { state, sinceMs } = connection.value;
  return html`<p class=${`connection ${state}`}><span role="status">${say(SAID[state])}</span>
    ${state !== "live" && html` <span class="dim"><${When} at=${sinceMs} /></span>`}</p>`;
}

let isPageChanged = false;

function Page({ found }) {
  const [shown, show] = useState({ View: null, error: null });
  const main = useRef(null);
  const title = found ? say(found.page.title) : say("page.none");
  const load = () => found?.page.load().then(({ default: View }) => show({ View, error: null }), (error) => show({ View: null, error }));
  useEffect(() => {
    load();
    return () => { isPageChanged = true; };
  }, []);
  const isThere = shown.View !== null || found === null;
  useEffect(() => {
    document.title = `${title} · Partyline`;
    if (!isThere) return undefined;
    // On a change of page the focus goes to its heading, and its title is read out; the first one begins at the top.
    return isPageChanged ? focusHeading(main.current, title) : undefined;
  }, [isThere]);
  // Another address of the same page: what had the focus may be gone, or hidden, with what it belonged to; or it was not of
  // the page at all, as when one has gone there by Ctrl+K.
  useEffect(() => {
    if (!isThere) return undefined;
    let stop = null;
    const frame = requestAnimationFrame(() => { if (isFocusLost(main.current)) stop = focusHeading(main.current, title); });
    return () => {
      cancelAnimationFrame(frame);
      stop?.();
    };
  }, [place.value.path]);
  return html`<main id="main" tabindex="-1" ref=${main}>
    ${shown.View ? html`<${shown.View} ...${found.parts} />`
      : shown.error ? html`<${Fault} error=${shown.error} retry=${load} isWhole />`
      : found ? html`<${Loading} />` : html`<div class="page"><h1 tabindex="-1">${title}</h1><p>${say("page.noneText")}</p></div>`}
  </main>`;
}

const isFocusLost = (main, { activeElement: one } = document) => one === main || !main.contains(one) || !one.checkVisibility();

// A page may draw its heading only when it has read what it is called: until then the focus is on the page itself, and
// it stays where it is if the person has moved it meanwhile.
function focusHeading(main, title) {
  announce(title);
  const heading = main.querySelector("h1");
  if (heading) {
    heading.focus();
    return undefined;
  }
  main.focus();
  const watcher = new MutationObserver(() => {
    const late = main.querySelector("h1");
    if (!late) return;
    watcher.disconnect();
    if (document.activeElement === main || document.activeElement === document.body) late.focus();
  });
  watcher.observe(main, { childList: true, subtree: true });
  return () => watcher.disconnect();
}
