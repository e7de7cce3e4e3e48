// Articles in every state: writing, publishing, archiving.
import { useState } from "preact/hooks";
import { news as api } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useAction, useList } from "../../store.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

const STATUSES = ["published", "draft", "scheduled", "archived"];

export default function NewsDesk() {
  const { status = "published" } = place.value.query;
  const list = useList((query, signal) => api.list({ status, limit: 30, ...query }, signal), [status]);
  return html`<div class="page"><h1 tabindex="-1">${say("newsdesk.title")}</h1><${Write} written=${list.reload} />
    <${Field} kind="select" label=${say("server.status")} value=${status} onInput=${(value) => setQuery({ status: value })} options=${STATUSES.map((one) => [one, say(`newsdesk.status.${one}`)])} />
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("newsdesk.none")}<//>` : html`<ul class="cards">${list.items.map((article) => html`<${Article} key=${article.id} article=${article} changed=${list.reload} />`)}</ul>
      ${list.hasMore && html`<button type="button" disabled=${list.isGoingOn} onClick=${list.more}>${say("notifications.older")}</button>`}`)}<//></div>`;
}

function Article({ article, changed }) {
  const act = useAction(async (changes) => {
    await api.change(article.id, changes);
    await changed();
  });
  const button = (words, changes, pressed) => html`<button type="button" aria-pressed=${pressed} disabled=${act.isRunning} onClick=${() => act.run(changes)}>${say(words)}</button>`;
  return html`<li><div class="grow"><p><a href=${`/app/news/${article.id}`}><bdi>${article.title}</bdi></a></p>
      <p class="dim">${say(`newsdesk.visibility.${article.visibility}`)} · <${When} at=${article.publishedAt ?? article.publishAt ?? article.createdAt} />${article.authorName && html` · <bdi>${article.authorName}</bdi>`}</p><${Complaint} error=${act.error} /></div>
    ${article.status === "published" && button("news.pinned", { pinned: !article.pinned }, article.pinned)}
    ${["draft", "scheduled"].includes(article.status) && button("versions.publish", { status: "published" })}
    ${article.status === "published" && button("newsdesk.archive", { status: "archived" })}</li>`;
}

const BLANK = { title: "", summary: "", body: "", category: "", visibility: "public", publishAt: "", notify: false };

function Write({ written }) {
  const [fields, setFields] = useState(BLANK);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const send = useAction(async (status) => {
    const { publishAt, ...rest } = fields;
    const moment = publishAt && { publishAt: new Date(publishAt).toISOString() };
    await api.write({ ...rest, title: fields.title.trim(), summary: fields.summary.trim() || null, category: fields.category.trim() || null, status: publishAt && status === "published" ? "scheduled" : status, ...moment, scope: { type: "global" } });
    toast(say("savebar.saved"));
    setFields(BLANK);
    await written();
  });
  const isReady = fields.title.trim() && fields.body.trim() && !send.isRunning;
  return html`<details><summary>${say("newsdesk.write")}</summary><${Form} action=${send} label=${say("newsdesk.write")} onSubmit=${() => send.run("published")}>
    <${Field} label=${say("newsdesk.headline")} value=${fields.title} onInput=${set("title")} error=${send.error} pointer="/title" maxlength="200" />
    <${Field} kind="area" rows="2" label=${say("networks.summary")} value=${fields.summary} onInput=${set("summary")} error=${send.error} pointer="/summary" maxlength="500" />
    <${Field} kind="area" rows="10" label=${say("newsdesk.body")} hint=${say("newsdesk.bodyHint")} value=${fields.body} onInput=${set("body")} error=${send.error} pointer="/body" />
    <${Field} label=${say("publication.category")} value=${fields.category} onInput=${set("category")} error=${send.error} pointer="/category" maxlength="64" />
    <${Field} kind="select" label=${say("newsdesk.visibility")} value=${fields.visibility} onInput=${set("visibility")} options=${["public", "authenticated"].map((one) => [one, say(`newsdesk.visibility.${one}`)])} />
    <${Field} kind="datetime-local" label=${say("newsdesk.publishAt")} value=${fields.publishAt} onInput=${set("publishAt")} error=${send.error} pointer="/publishAt" />
    <${Field} kind="switch" label=${say("newsdesk.notify")} value=${fields.notify} onInput=${set("notify")} />
    <div class="buttons start"><${Submit} action=${send} disabled=${!isReady}>${say("versions.publish")}<//><button type="button" disabled=${!isReady} onClick=${() => send.run("draft")}>${say("newsdesk.draft")}</button></div><//></details>`;
}
