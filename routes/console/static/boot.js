// The beginning: take up the session, then show the page of the address, or signing in over it; or the first page of all.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { place } from "./router.js";
import { restore, status } from "./session.js";
import { Shell } from "./shell.js";
import { SignIn } from "./sign-in.js";
import { Announcements } from "./ui/announce.js";
import { Dialogs } from "./ui/dialog.js";
import { Fault, Loading } from "./ui/states.js";
import { Toasts } from "./ui/toast.js";
import { loadWords } from "./words.js";

const SETUP = "/setup";

// One person sees this, once: it is not part of what everybody loads.
function SettingUp() {
  const [shown, show] = useState({});
  const load = () => { Promise.all([import("./setup.js"), loadWords("setup")]).then(([{ Setup }]) => show({ Setup }), (error) => show({ error })); };
  useEffect(load, []);
  if (shown.error) return html`<${Fault} error=${shown.error} retry=${load} isWhole />`;
  return shown.Setup ? html`<${shown.Setup} />` : html`<${Loading} />`;
}

// Whoever is no longer signed in leaves nothing behind: no page, no question, no picture in memory.
function Console() {
  if (place.value.path === SETUP) return html`<${SettingUp} /><${Toasts} />`;
  return html`
    ${status.value === "in" && html`<div class="frame"><${Shell} /></div><${Dialogs} /><${Toasts} /><${Announcements} />`}
    ${status.value === "out" && html`<${SignIn} />`}
    ${status.value === "restoring" && html`<${Loading} />`}`;
}

const root = document.getElementById("console");
render(html`<${Console} />`, root);
restore();
