// News of the installation, and of the networks and servers that one follows.
import { news as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useList, useRead } from "../../store.js";
import { Markdown } from "../../ui/markdown.js";
import { Poll } from "../../ui/poll.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

/** @param {{id?: string}} props of the open article. */
export default function News({ id }) {
  return html`<div class="page">${id ? html`<${Article} key=${id} id=${id} />` : html`<h1 tabindex="-1">${say("news.title")}</h1><${Feed} />`}</div>`;
}

function Feed() {
  const list = useList((query, signal) => api.feed({ limit: 30, ...query }, signal));
  return html`<${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("news.none")}<//>` : html`<ul class="cards">${list.items.map((article) => html`<li key=${article.id}><div class="grow">
      <p><a href=${`/app/news/${article.id}`}><bdi>${article.title}</bdi></a> ${article.pinned && html`<span class="chip plain">${say("news.pinned")}</span>`}</p>
      <p dir="auto">${article.summary}</p><p class="dim"><${By} article=${article} /></p></div></li>`)}</ul>
    <${More} of=${list} />`)}<//>`;
}

const By = ({ article }) => html`${article.authorName && html`<bdi>${article.authorName}</bdi> · `}<${When} at=${article.publishedAt ?? article.createdAt} />${article.category && html` · <bdi>${article.category}</bdi>`}`;

function Article({ id }) {
  const read = useRead((signal) => api.read(id, signal), [id]);
  const vote = async (optionIds) => read.change(await api.vote(id, optionIds));
  return html`<p><a href="/app/news">${say("news.all")}</a></p><h1 tabindex="-1"><bdi>${read.data?.title ?? say("news.title")}</bdi></h1>
    <${State} of=${read}>${(article) => html`<article><p class="dim"><${By} article=${article} /></p><${Markdown} text=${article.body ?? article.summary} />
      <${Follow} article=${article} />
      ${article.poll && html`<${Poll} poll=${article.poll} name=${article.id} vote=${vote} />`}</article>`}<//>`;
}

// What an article is about can be followed: its network or game server, and its category.
function Follow({ article }) {
  const read = useRead((signal) => api.follows(signal));
  const act = useAction(async (items) => read.change(await api.follow(items)));
  const { scope, category } = article;
  const offered = [...(scope.id ? [{ type: scope.type, id: scope.id }] : []), ...(category ? [{ type: "category", id: category }] : [])];
  return html`<${State} of=${read}>${({ items }) => html`<div class="buttons start">${offered.map((one) => {
    const others = items.filter((item) => item.type !== one.type || item.id !== one.id);
    const isFollowed = others.length < items.length;
    return html`<button key=${one.type} type="button" aria-pressed=${isFollowed} disabled=${act.isRunning} onClick=${() => act.run(isFollowed ? others : [...items, one])}><bdi>${say(`news.follow.${one.type}`, { name: one.id })}</bdi></button>`;
  })}</div><${Complaint} error=${act.error} />`}<//>`;
}
