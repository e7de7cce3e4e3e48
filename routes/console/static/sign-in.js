// Signing in: with an outside issuer, with a one-time link, or with an access token. Never by itself: a link is used by
// a click, so that no robot that looks at links spends it, and nobody is signed in to a stranger's account unawares.
import { useEffect, useRef, useState } from "preact/hooks";
import { inspectLink, issuers } from "./api.js";
import { html } from "./html.js";
import { go } from "./router.js";
import { reason, signIn } from "./session.js";
import { useAction, useRead } from "./store.js";
import { Field, Form, Submit } from "./ui/form.js";
import { State } from "./ui/states.js";
import { say, sayOf } from "./words.js";

/** The page on which one signs in; of whoever was here before it shows nothing. */
export function SignIn() {
  const [{ code, error }] = useState(takeFragment);
  const heading = useRef(null);
  useEffect(() => {
    document.title = `${say("signIn.title")} · Partyline`;
    if (reason.value) heading.current.focus(); // what had the focus is gone with the page that it was on
  }, []);
  return html`<main class="signin" aria-labelledby="signin-title"><div class="card">
      <h1 id="signin-title" tabindex="-1" ref=${heading}>${say("signIn.title")}</h1>
      ${reason.value && html`<p role="status">${reason.value}</p>`}
      ${error && html`<p class="bad" role="alert">${sayOf("signIn.error", error, say("signIn.error.failed"))}</p>`}
      ${code ? html`<${ByLink} code=${code} />` : html`<${Issuers} /><${ByToken} />`}
      ${location.protocol === "http:" && !isLoopback() && html`<p class="dim">${say("signIn.plainHttp")}</p>`}
    </div></main>`;
}

// Codes, and what an issuer has refused, travel in the fragment, which is in no log and no Referer, and leave the address
// bar at once.
function takeFragment() {
  const said = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, "", location.pathname);
  return { code: said.get("code"), error: said.get("error") };
}

const isLoopback = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

async function enter(credential) {
  await signIn(credential);
  go("/app", { replace: true, from: "/app/sign-in" });
}

function ByLink({ code }) {
  const shown = useRead(() => inspectLink(code));
  const action = useAction(enter);
  return html`<${State} of=${shown}>${({ name }) => html`<${Form} action=${action} label=${say("signIn.title")} onSubmit=${() => action.run({ code })}>
    <p>${say("signIn.byLink")}</p>
    <${Submit} action=${action}>${say("signIn.continue", { name })}<//>
  <//>`}<//>`;
}

function ByToken() {
  const [token, setToken] = useState("");
  const action = useAction(enter);
  return html`<${Form} action=${action} label=${say("signIn.byToken")} onSubmit=${() => action.run({ token: token.trim() })}>
    <${Field} label=${say("signIn.token")} hint=${say("signIn.tokenHint")} kind="password" value=${token} onInput=${setToken} required spellcheck=${false} />
    <${Submit} action=${action}>${say("signIn.submit")}<//>
  <//>`;
}

function Issuers() {
  const { data } = useRead(() => issuers());
  if (!data?.items.length) return null;
  return html`<ul class="issuers">${data.items.map(({ id, name }) => html`<li key=${id}>
    <a class="button primary" href=${`/app/sign-in/${encodeURIComponent(id)}`}>${say("signIn.with", { name })}</a></li>`)}</ul>`;
}
