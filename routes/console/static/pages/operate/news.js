// Articles in every state: writing, changing, publishing, archiving.
import { useEffect, useRef, useState } from "preact/hooks";
import { news as api } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useAction, useList, useRead } from "../../store.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { momentOf } from "../../ui/local-time.js";
import { ofRow } from "../../ui/row.js";
import { SaveBar } from "../../ui/savebar.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { ArticleFields, bodyOf, fieldsOf } from "./article-form.js";

const STATUSES = ["published", "draft", "scheduled", "archived"];
const MOVES = { draft: ["scheduled", "published", "archived"], scheduled: ["draft"], published: ["archived"], archived: ["published"] };

const movesOf = ({ status, publishAt }) => MOVES[status].filter((to) => to !== "scheduled" || publishAt !== null);

export default function NewsDesk() {
  const { status = "published", article } = place.value.query;
  const list = useList((query, signal) => api.list({ status, limit: 30, ...query }, signal), [status]);
  const selection = useSelection(list.items ?? [], { keyOf: (one) => one.id, nameOf: (one) => one.title });
  const many = MOVES[status].map((to) => ({ name: to, words: say(`newsdesk.move.${to}`), text: (name) => say(`newsdesk.moveText.${to}`, { name }), fits: (one) => movesOf(one).includes(to), run: (one) => api.change(one.id, { status: to }) }));
  return html`<div class="page"><h1 tabindex="-1">${say("newsdesk.title")}</h1>
    ${article ? html`<${Change} key=${article} id=${article} status=${status} changed=${list.reload} />` : html`<${Write} written=${list.reload} />`}
    <${Field} kind="select" label=${say("server.status")} value=${status} onInput=${(value) => setQuery({ status: value, chosen: null })} options=${STATUSES.map((one) => [one, say(`newsdesk.status.${one}`)])} />
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("newsdesk.none")}<//>` : html`<${ChooseAll} of=${selection} /><ul class="cards">${list.items.map((one) => html`<${Article} key=${one.id} article=${one} selection=${selection} changed=${list.reload} />`)}</ul>
      <${More} of=${list} /><${SelectionBar} of=${selection} actions=${many} changed=${list.reload} />`)}<//></div>`;
}

function Article({ article, selection, changed }) {
  const act = useAction(async (changes) => {
    await api.change(article.id, changes);
    await changed();
  });
  const button = (words, changes, pressed = null) => html`<button key=${words} type="button" aria-pressed=${pressed} disabled=${act.isRunning} onClick=${() => act.run(changes)} ...${ofRow(words, article.title)} />`;
  return html`<li><${Choice} of=${selection} item=${article} /><div class="grow"><p><a href=${`/app/news/${article.id}`}><bdi>${article.title}</bdi></a></p>
      <p class="dim">${say(`newsdesk.visibility.${article.visibility}`)} · <${When} at=${article.publishedAt ?? article.publishAt ?? article.createdAt} />${article.authorName && html` · <bdi>${article.authorName}</bdi>`}</p><${Complaint} error=${act.error} /></div>
    <div class="buttons"><a class="button" href=${`/app/operate/news?status=${article.status}&article=${article.id}`} ...${ofRow("action.edit", article.title)} />
    ${article.status === "published" && button("news.pinned", { pinned: !article.pinned }, article.pinned)}
    ${movesOf(article).map((to) => button(`newsdesk.move.${to}`, { status: to }))}</div></li>`;
}

const keptOf = (article) => ({ value: article, etag: String(article.revision) });

function Change({ id, status, changed }) {
  const read = useRead(async (signal) => keptOf(await api.read(id, signal)), [id]);
  const heading = useRef(null);
  useEffect(() => heading.current.focus(), []);
  return html`<section aria-labelledby="news-change"><header class="row"><h2 id="news-change" tabindex="-1" ref=${heading}>${say("newsdesk.change")}</h2>
      <a class="button" href=${`/app/operate/news?status=${status}`}>${say("action.close")}</a></header>
    <${State} of=${read}>${(kept) => html`<${Editor} kept=${kept} changed=${changed} />`}<//></section>`;
}

function Editor({ kept, changed }) {
  const { id } = kept.value;
  const { value, fields, set, hint, save, isChanged, discard, conflict } = useEdited({
    kept, fieldsOf, changed, read: async () => keptOf(await api.read(id)),
    // The moment is fixed once it has been, so it is only said where it is another.
    write: async (wanted, revision, before) => keptOf(await api.change(id, { ...bodyOf(wanted), ...(wanted.publishAt !== fieldsOf(before).publishAt && { publishAt: momentOf(wanted.publishAt) }), revision: Number(revision) })),
  });
  return html`<div class="form"><${Conflict} of=${conflict} /><${ArticleFields} fields=${fields} set=${set} hint=${hint} error=${save.error} isFixed=${value.publishedAt !== null} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>`;
}

function Write({ written }) {
  const [fields, setFields] = useState(fieldsOf(null));
  const set = (name) => (value) => setFields((before) => ({ ...before, [name]: value }));
  const send = useAction(async (status) => {
    const publishAt = momentOf(fields.publishAt);
    await api.write({ ...bodyOf(fields), scope: { type: "global" }, status: publishAt && status === "published" ? "scheduled" : status, ...(publishAt && { publishAt }) });
    toast(say("savebar.saved"));
    setFields(fieldsOf(null));
    await written();
  });
  const isReady = fields.title.trim() && fields.body.trim() && !send.isRunning;
  return html`<details><summary>${say("newsdesk.write")}</summary><${Form} action=${send} label=${say("newsdesk.write")} onSubmit=${() => send.run("published")}>
    <${ArticleFields} fields=${fields} set=${set} error=${send.error} />
    <div class="buttons start"><${Submit} action=${send} disabled=${!isReady}>${say("versions.publish")}<//><button type="button" disabled=${!isReady} onClick=${() => send.run("draft")}>${say("newsdesk.draft")}</button></div><//></details>`;
}
