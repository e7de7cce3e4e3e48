// The address is the state: which page, and with the query what of it is shown. Back works, and links can be sent.
import { signal } from "@preact/signals";

/** {path, query} of the page that is shown. */
export const place = signal(here());

function here() {
  return { path: location.pathname.replace(/\/+$/, "") || "/", query: Object.fromEntries(new URLSearchParams(location.search)) };
}

const guards = new Set();
const mayGo = () => [...guards].every((mayLeave) => mayLeave());

// Each entry of the browser's history knows its number, so that Back can be taken back.
let step = history.state?.step ?? 0;
history.replaceState({ step }, "");

/**
 * Go to another page of the console; asks first where something is not saved.
 *
 * @param {string} address begins with `/app`.
 * @param {{replace?: boolean, from?: string}} [options] `replace` leaves no step for Back; `from` is the path of the page
 *   that an answer was waited for on: whoever has left it meanwhile stays where they are.
 * @returns {boolean} whether it went there.
 */
export function go(address, { replace = false, from = place.value.path } = {}) {
  if (place.value.path !== from || !mayGo()) return false;
  if (!replace) step += 1;
  history[replace ? "replaceState" : "pushState"]({ step }, "", address);
  place.value = here();
  return true;
}

/** Put values into the query in place; empty ones leave it. */
export function setQuery(values) {
  const query = { ...place.value.query, ...values };
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  history.replaceState({ step }, "", location.pathname + (search.size ? `?${search}` : "") + location.hash);
  place.value = here();
}

/** Have `mayLeave` asked before the page changes. Returns what takes it back. */
export function guard(mayLeave) {
  guards.add(mayLeave);
  return () => guards.delete(mayLeave);
}

/**
 * Match a path with a pattern such as `/app/chat/:id?`.
 *
 * @returns {Record<string, string>|null} its parts, decoded; null where it does not match.
 */
export function match(pattern, path) {
  const [wanted, given] = [pattern, path].map((text) => text.split("/").slice(1));
  const found = {};
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(":")) {
      const isOptional = part.endsWith("?");
      if (given[at] === undefined && !isOptional) return null;
      if (given[at] !== undefined) found[part.replace(/^:|\?$/g, "")] = decoded(given[at]);
    } else if (part !== given[at]) return null;
  }
  return given.length <= wanted.length ? found : null;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Links are links: they open in new tabs, and their address can be copied. Only a plain click stays in this page.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
  if (!/^\/app(\/|$)/.test(link.pathname) || link.pathname.startsWith("/app/sign-in/")) return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
let isReturning = false;
addEventListener("popstate", ({ state }) => {
  if (isReturning) {
    isReturning = false;
    return;
  }
  const to = state?.step ?? step;
  if (to !== step && !mayGo()) {
    // The browser is there already: it goes back to where something is not saved.
    isReturning = true;
    history.go(step - to);
    return;
  }
  step = to;
  place.value = here();
});
addEventListener("beforeunload", (event) => { if ([...guards].some((mayLeave) => !mayLeave({ isLeaving: true }))) event.preventDefault(); });
