// Which pages and buttons somebody has, or whoever has a role. It draws: nothing is asked of the service as anybody else.
import { useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { PAGES } from "../../pages.js";
import { holds } from "../../session.js";
import { useRead } from "../../store.js";
import { Field } from "../../ui/form.js";
import { State } from "../../ui/states.js";
import { loadWords, say } from "../../words.js";
import { BUTTONS } from "./buttons.js";

/** @param {{id: string}} props of the user. */
export function SeenAs({ id }) {
  const [isOpen, open] = useState(false);
  return html`<section aria-labelledby="seen-as"><h2 id="seen-as">${say("seenAs.title")}</h2><p class="dim">${say("seenAs.text")}</p>
    <details onToggle=${(event) => open(event.currentTarget.open)}><summary>${say("seenAs.show")}</summary>${isOpen && html`<${Choice} id=${id} />`}</details></section>`;
}

function Choice({ id }) {
  const read = useRead(async (signal) => {
    // Buttons of all groups are named: their words come with those of their pages.
    const [person, { items }] = await Promise.all([admin.rights(id, signal), admin.roles(signal), loadWords("play"), loadWords("run")]);
    const nodes = person.items.filter((right) => right.allowed && !right.quota).map((right) => right.node);
    return [{ name: "person", nodes, role: person.highestRoleLabel }, ...items.map((one) => ({ name: one.role, nodes: one.nodes, role: one.label }))];
  }, [id]);
  const [name, choose] = useState("person");
  return html`<${State} of=${read}>${(looks) => html`<div class="form">
    <${Field} kind="select" label=${say("seenAs.as")} value=${name} onInput=${choose} options=${looks.map((one) => [one.name, say(one.name === "person" ? "seenAs.person" : `users.role.${one.name}`)])} />
    <${Drawing} rights=${looks.find((one) => one.name === name)} /></div>`}<//>`;
}

function Drawing({ rights }) {
  const pages = PAGES.filter((page) => page.group !== null || BUTTONS.some((button) => button.page === page.path));
  const seen = pages.filter((page) => holds(rights, page.needs)).length;
  return html`<p role="status">${say("seenAs.sum", { count: seen, all: pages.length })}</p>
    <ul class="cards drawing">${pages.map((page) => html`<li key=${page.path}><div class="grow"><p><${Verdict} rights=${rights} needs=${page.needs} /> <strong>${say(page.title)}</strong> <code>${page.path}</code></p>
      ${holds(rights, page.needs) && html`<ul class="buttons start">${BUTTONS.filter((button) => button.page === page.path).map((button) => html`<li key=${button.words}><${Verdict} rights=${rights} needs=${button.needs} /> ${say(button.words)}</li>`)}</ul>`}</div></li>`)}</ul>`;
}

// Never by colour alone: a word for whether one has it, and the right that it needs.
function Verdict({ rights, needs }) {
  const isHeld = holds(rights, needs);
  return html`<span class=${`chip ${isHeld ? "good" : "plain"}`}>${say(isHeld ? "rights.yes" : "rights.no")}</span>${!isHeld && html` <code>${needs}</code>`}`;
}
