// From the key on a game server's console to a published server, in steps that remember where one was.
import { useState } from "preact/hooks";
import { networks as networkApi, servers as api } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useAction, useRead } from "../../store.js";
import { DomainRecord } from "../../ui/domain-record.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { PublicationForm } from "../../ui/publication-form.js";
import { State } from "../../ui/states.js";
import { say } from "../../words.js";

const STEPS = ["key", "network", "domain", "publish"];

export default function Claim() {
  const { server, network, step = "key" } = place.value.query;
  const at = STEPS.includes(step) && (server || step === "key") ? step : "key";
  // The answer may come when the person is on another page, whose address is that one's own.
  const next = (values) => { if (place.value.path === "/app/servers/claim") setQuery({ ...values, step: STEPS[STEPS.indexOf(at) + 1] }); };
  return html`<div class="page"><h1 tabindex="-1">${say("claim.title")}</h1>
    <ol class="progress">${STEPS.map((one) => html`<li key=${one} aria-current=${one === at ? "step" : null}>${say(`claim.${one}`)}</li>`)}</ol>
    ${at === "key" && html`<${Key} next=${next} />`}
    ${at === "network" && html`<${Network} server=${server} next=${next} />`}
    ${at === "domain" && html`<${Domain} network=${network} next=${next} />`}
    ${at === "publish" && html`<${Publish} server=${server} />`}
  </div>`;
}

function Key({ next }) {
  const [claimKey, setKey] = useState("");
  const claim = useAction(async () => next({ server: (await api.claim(claimKey.trim())).server.serverId }));
  return html`<${Form} action=${claim} label=${say("claim.title")} onSubmit=${() => claim.run()}>
    <${Field} label=${say("claim.key")} hint=${say("claim.keyHint")} value=${claimKey} onInput=${setKey} error=${claim.error} pointer="/claimKey" spellcheck=${false} maxlength="64" />
    <${Submit} action=${claim}>${say("claim.claim")}<//><//>`;
}

function Network({ server, next }) {
  const list = useRead((signal) => networkApi.list(signal));
  const [chosen, choose] = useState("");
  const [name, setName] = useState("");
  const join = useAction(async () => {
    const networkId = chosen || (await networkApi.create(name.trim())).network.networkId;
    try {
      await api.change(server, { networkId });
    } catch (error) {
      // Whoever tries again joins the one that was made, and makes no other.
      await list.reload();
      choose(networkId);
      throw error;
    }
    next({ network: networkId });
  });
  return html`<${State} of=${list}>${({ items }) => html`<${Form} action=${join} label=${say("claim.network")} onSubmit=${() => join.run()}>
    <p>${say("claim.networkText")}</p>
    ${items.length > 0 && html`<${Field} kind="select" label=${say("claim.network")} value=${chosen} onInput=${choose} options=${[["", say("claim.newNetwork")], ...items.map((one) => [one.networkId, one.name])]} />`}
    ${!chosen && html`<${Field} label=${say("claim.networkName")} value=${name} onInput=${setName} error=${join.error} pointer="/name" maxlength="100" />`}
    <${Submit} action=${join}>${say("action.next")}<//>
    <button type="button" class="link" onClick=${() => setQuery({ step: "publish" })}>${say("claim.skipNetwork")}</button><//>`}<//>`;
}

function Domain({ network, next }) {
  const [domain, setDomain] = useState("");
  const [made, setMade] = useState(null);
  const add = useAction(async () => setMade(await networkApi.addDomain(network, domain.trim())));
  const skip = html`<button type="button" class="link" onClick=${() => next({})}>${say("claim.skipDomain")}</button>`;
  if (!made) {
    return html`<${Form} action=${add} label=${say("claim.domain")} onSubmit=${() => add.run()}>
      <${Field} label=${say("claim.domain")} hint=${say("claim.domainHint")} value=${domain} onInput=${setDomain} error=${add.error} pointer="/domain" spellcheck=${false} maxlength="253" />
      <${Submit} action=${add}>${say("action.next")}<//>${skip}<//>`;
  }
  if (made.domain.verified) return html`<section><p>${say("networks.isVerified", { name: made.domain.domain })}</p><button type="button" class="primary" onClick=${() => next({})}>${say("action.next")}</button></section>`;
  return html`<section><${DomainRecord} network=${network} domain=${made.domain} txt=${made.txt} verified=${() => next({})}>${skip}<//></section>`;
}

const Publish = ({ server }) => html`<section><p>${say("claim.publishText")}</p>
  <${PublicationForm} target="server" id=${server} />
  <p><a href=${`/app/servers/${server}`}>${say("claim.toServer")}</a></p></section>`;
