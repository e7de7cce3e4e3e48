// The frame around the pages: navigation, state of the connection, who is signed in, and the page of the address.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { connection, useShared } from "./live.js";
import { GROUPS, PAGES } from "./pages.js";
import { match, place } from "./router.js";
import { isModerator, me, signOut } from "./session.js";
import { useAction } from "./store.js";
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
      <${Navigation} path=${found?.page.path} />
      <div class="who">
        <${Connection} />
        <a class="self" href="/app/profile"><${Name}>${me.value.name}<//></a>
        <${ThemeChoice} />
        <button type="button" disabled=${leave.isRunning} onClick=${() => leave.run()}>${say("action.signOut")}</button>
        ${leave.error && html`<${Complaint} error=${leave.error} />`}
      </div>
    </header>
    <${Page} key=${found?.page.path ?? "none"} found=${found} />`;
}

function find(path) {
  for (const page of PAGES) {
    const parts = match(page.path, path);
    if (parts) return { page, parts };
  }
  return null;
}

// {name of a page's title: how many things wait there}; these channels also keep the connection open on every page.
function useWaiting() {
  const queues = useShared(isModerator.value ? "moderation" : null).data;
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
    ${GROUPS.filter((group) => group.isFor()).map((group) => {
      const pages = PAGES.filter((page) => page.group === group.name && page.isFor());
      return pages.length > 0 && html`<section><h2 id=${`group-${group.name}`}>${say(`group.${group.name}`)}</h2>
        <ul aria-labelledby=${`group-${group.name}`}>${pages.map((page) => html`<li key=${page.path}>
          <a href=${page.path.replace(/\/:.*$/, "")} aria-current=${page.path === path ? "page" : null}>${say(page.title)}
            ${waiting[page.title] > 0 && html`<span class="badge">${number(waiting[page.title])}<span class="hidden"> ${say("shell.waiting")}</span></span>`}</a></li>`)}</ul></section>`;
    })}
  </nav>`;
}

const SAID = { live: "connection.live", connecting: "connection.connecting", waiting: "connection.waiting", closed: "connection.closed" };

// Always in sight: a page that is not live says so, and since when.
function Connection() {
  const { state, sinceMs } = connection.value;
  return html`<p class=${`connection ${state}`} role="status">${say(SAID[state])}
    ${state !== "live" && html` <span class="dim"><${When} at=${sinceMs} /></span>`}</p>`;
}

let isPageChanged = false;

function Page({ found }) {
  const [shown, show] = useState({ View: null, error: null });
  const main = useRef(null);
  const title = found ? say(found.page.title) : say("page.none");
  const load = () => found?.page.load().then(({ default: View }) => show({ View, error: null }), (error) => show({ View: null, error }));
  useEffect(() => { load(); }, []);
  useEffect(() => {
    document.title = `${title} · Partyline`;
    if (shown.View === null) return;
    // On a change of page the focus goes to it, so that its title is read out; the first one begins at the top.
    if (isPageChanged) main.current.querySelector("h1")?.focus();
    isPageChanged = true;
  }, [shown.View]);
  return html`<main id="main" tabindex="-1" ref=${main}>
    ${shown.View ? html`<${shown.View} ...${found.parts} />`
      : shown.error ? html`<${Fault} error=${shown.error} retry=${load} isWhole />`
      : found ? html`<${Loading} />` : html`<div class="page"><h1 tabindex="-1">${title}</h1><p>${say("page.noneText")}</p></div>`}
  </main>`;
}
