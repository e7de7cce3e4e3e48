// The language of the pages, as a native select.
import { html } from "../html.js";
import { language, LANGUAGES, setLanguage } from "../words.js";

/** @param {{id: string}} props of the select, for its label. */
export const LanguageChoice = ({ id }) => html`<select id=${id} value=${language} onChange=${(event) => setLanguage(event.currentTarget.value)}>
  ${Object.entries(LANGUAGES).map(([code, name]) => html`<option value=${code} lang=${code} selected=${code === language}>${name}</option>`)}
</select>`;
