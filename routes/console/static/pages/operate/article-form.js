// The fields of an article, for writing one and for changing it.
import { html } from "../../html.js";
import { Field } from "../../ui/form.js";
import { LATEST, localOf } from "../../ui/local-time.js";
import { say } from "../../words.js";

const VISIBLE = ["public", "authenticated"];

/** What the fields show of an article; of none, what a new one begins with. */
export function fieldsOf(article) {
  const { title = "", summary = "", body = "", category, tags = [], coverUrl, locale = "en", visibility = "public", publishAt } = article ?? {};
  return { title, summary, body, category: category ?? "", tags: tags.join(", "), coverUrl: coverUrl ?? "", locale, visibility, publishAt: localOf(publishAt) };
}

/** What the interface is sent of the fields, but for the moment of publication. */
export const bodyOf = ({ title, summary, body, category, tags, coverUrl, locale, visibility }) => ({
  title: title.trim(), summary: summary.trim() || null, body, category: category.trim() || null, coverUrl: coverUrl.trim() || null,
  tags: tags.split(",").map((tag) => tag.trim()).filter(Boolean), locale: locale.trim() || null, visibility,
});

/**
 * @param {object} props
 * @param {Record<string, any>} props.fields
 * @param {(name: string) => (value: any) => void} props.set
 * @param {Error|null} props.error
 * @param {(name: string, words?: string|null, wordsOf?: (value: any) => string) => string|null} [props.hint] what is said
 *   below a field.
 * @param {boolean} [props.isFixed] the moment of publication has been.
 */
export function ArticleFields({ fields, set, error, hint = (name, words = null) => words, isFixed = false }) {
  const field = (name, label, { words = null, ...rest }) => html`<${Field} label=${say(label)} hint=${hint(name, words)} value=${fields[name]} onInput=${set(name)} error=${error} pointer=${`/${name}`} ...${rest} />`;
  const visibilities = VISIBLE.map((one) => [one, say(`newsdesk.visibility.${one}`)]);
  return html`${field("title", "newsdesk.headline", { maxlength: 200 })}
    ${field("summary", "networks.summary", { kind: "area", rows: 2, maxlength: 500 })}
    ${field("body", "newsdesk.body", { kind: "area", rows: 10, words: say("newsdesk.bodyHint") })}
    <div class="row">${field("category", "publication.category", { maxlength: 32 })}${field("tags", "newsdesk.tags", { maxlength: 340 })}</div>
    <div class="row">${field("coverUrl", "newsdesk.cover", { kind: "url", maxlength: 500 })}${field("locale", "newsdesk.locale", { maxlength: 35, spellcheck: false })}</div>
    <${Field} kind="select" label=${say("newsdesk.visibility")} hint=${hint("visibility", null, (one) => say(`newsdesk.visibility.${one}`))} value=${fields.visibility} onInput=${set("visibility")} options=${visibilities} />
    ${!isFixed && field("publishAt", "newsdesk.publishAt", { kind: "datetime-local", max: LATEST })}`;
}
