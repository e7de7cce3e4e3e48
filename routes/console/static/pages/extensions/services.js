// Services: an extension on all of one's game servers, as one thing that can be moved or taken off.
import { useState } from "preact/hooks";
import { services as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useList } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { isolated, say } from "../../words.js";

/** @param {{offered: any[]}} props extensions of the catalog. */
export function Services({ offered }) {
  const list = useList((query, signal) => api.list({ limit: 100, ...query }, signal));
  const options = [["", "–"], ...offered.map((one) => [one.extensionId, `${isolated(one.name)} (${one.extensionId})`])];
  return html`<section aria-labelledby="services"><h2 id="services">${say("services.title")}</h2><p class="dim">${say("services.text")}</p>
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("services.none")}<//>`
      : html`<ul class="cards">${list.items.map((one) => html`<${Service} key=${one.serviceId} service=${one} options=${options} changed=${list.reload} />`)}</ul><${More} of=${list} />`)}<//>
    <${Make} options=${options} made=${list.reload} /></section>`;
}

function Service({ service, options, changed }) {
  const [target, setTarget] = useState("");
  const migrate = useAction(async () => {
    const { moved, pending } = await api.migrate(service.serviceId, target);
    toast(say(pending > 0 ? "services.movesOn" : "services.moved", { count: moved.servers }));
    await changed();
  });
  const remove = useAction(async () => {
    if (!(await ask({ title: say("services.remove"), text: say("services.removeText", { name: service.name }), confirm: say("services.remove"), isDanger: true }))) return;
    await api.remove(service.serviceId);
    await changed();
  });
  return html`<li><div class="grow"><p><bdi>${service.name}</bdi> <code>${service.extensionId}</code></p>
    <details><summary ...${ofRow("services.migrate", service.name)} /><${Form} action=${migrate} label=${say("services.migrate")} onSubmit=${() => migrate.run()}><div class="row">
      <${Field} kind="select" label=${say("services.extension")} hint=${say("services.migrateHint")} value=${target} onInput=${setTarget} options=${options.filter(([one]) => one !== service.extensionId)} error=${migrate.error} pointer="/extensionId" />
      <${Submit} action=${migrate} disabled=${!target || migrate.isRunning}>${say("services.migrate")}<//></div><//></details><${Complaint} error=${remove.error} /></div>
    <button type="button" disabled=${remove.isRunning} onClick=${() => remove.run()} ...${ofRow("services.remove", service.name)} /></li>`;
}

function Make({ options, made }) {
  const [name, setName] = useState("");
  const [extensionId, setExtension] = useState("");
  const create = useAction(async () => {
    await api.create({ name: name.trim(), extensionId });
    setName("");
    setExtension("");
    await made();
  });
  return html`<details><summary>${say("services.make")}</summary><${Form} action=${create} label=${say("services.make")} onSubmit=${() => create.run()}>
    <${Field} label=${say("services.name")} value=${name} onInput=${setName} error=${create.error} pointer="/name" maxlength="100" />
    <${Field} kind="select" label=${say("services.extension")} value=${extensionId} onInput=${setExtension} options=${options} error=${create.error} pointer="/extensionId" />
    <${Submit} action=${create} disabled=${!name.trim() || !extensionId || create.isRunning}>${say("services.make")}<//><//></details>`;
}
