// The page behind the link that the first start prints: whoever has its code gives a name, and is the super-admin.
import { useEffect, useState } from "preact/hooks";
import { setUp } from "./api.js";
import { html } from "./html.js";
import { restore, status } from "./session.js";
import { useAction } from "./store.js";
import { copyText } from "./ui/chip.js";
import { Field, Form, Submit } from "./ui/form.js";
import { say } from "./words.js";

export function Setup() {
  const [code, setCode] = useState(takeCode);
  const [name, setName] = useState("");
  const [token, setToken] = useState(null);
  useEffect(() => { document.title = `${say("setup.title")} · Partyline`; }, []);
  const action = useAction(async () => {
    const made = await setUp(code.trim(), name.trim());
    setToken(made.token);
    await restore();
  });
  return html`<main class="signin" aria-labelledby="setup-title"><div class="card"><h1 id="setup-title" tabindex="-1">${say("setup.title")}</h1>
    ${token === null ? html`<p>${say("setup.text")}</p><${Form} action=${action} label=${say("setup.title")} onSubmit=${() => action.run()}>
      <${Field} label=${say("setup.code")} value=${code} onInput=${setCode} error=${action.error} pointer="/code" maxlength="200" spellcheck=${false} required />
      <${Field} label=${say("setup.name")} value=${name} onInput=${setName} error=${action.error} pointer="/name" maxlength="64" autocomplete="username" required />
      <${Submit} action=${action}>${say("setup.submit")}<//><//>` : html`<${Done} token=${token} />`}</div></main>`;
}

function Done({ token }) {
  return html`<p role="status">${say("setup.done")}</p>
    ${status.value === "in" && html`<p><a class="button primary" href="/app">${say("setup.go")}</a></p>`}
    <details><summary>${say("setup.token")}</summary><p class="dim">${say("setup.tokenText")}</p>
      <${Field} kind="area" rows="5" label=${say("signIn.token")} value=${token} onInput=${() => {}} readonly />
      <button type="button" onClick=${() => copyText(token)}>${say("action.copy")}</button></details>`;
}

// The code travels in the fragment, which is in no log and no Referer, and leaves the address bar at once.
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (location.hash) history.replaceState(history.state, "", location.pathname);
  return code;
}
