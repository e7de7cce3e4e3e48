// The beginning: take up the session, then show the page of the address, or signing in over it.
import { render } from "preact";
import { html } from "./html.js";
import { restore, status } from "./session.js";
import { Shell } from "./shell.js";
import { SignIn } from "./sign-in.js";
import { me } from "./session.js";
import { Announcements } from "./ui/announce.js";
import { Dialogs } from "./ui/dialog.js";
import { Loading } from "./ui/states.js";
import { Toasts } from "./ui/toast.js";

function Console() {
  // Whoever was signed in keeps their page, with what they were writing, beneath the question to sign in again.
  const wasSignedIn = me.value !== null;
  return html`
    ${wasSignedIn && html`<div class="frame" inert=${status.value !== "in"}><${Shell} /></div>`}
    ${status.value === "out" && html`<${SignIn} isAgain=${wasSignedIn} />`}
    ${status.value === "restoring" && html`<${Loading} />`}
    <${Dialogs} /><${Toasts} /><${Announcements} />`;
}

const root = document.getElementById("console");
render(html`<${Console} />`, root);
restore();
