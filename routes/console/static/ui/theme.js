// Light, dark, or as the system has it. The only thing beside the language that this browser remembers.
import { effect, signal } from "@preact/signals";
import { html } from "../html.js";
import { say } from "../words.js";

const THEMES = ["light dark", "light", "dark"];
const KEY = "partyline-theme";
const theme = signal(THEMES.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : THEMES[0]);

effect(() => {
  document.documentElement.style.colorScheme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

/** The choice, as a native select. */
export const ThemeChoice = () => html`<select aria-label=${say("theme.title")} value=${theme.value} onChange=${(event) => { theme.value = event.currentTarget.value; }}>
  ${THEMES.map((one) => html`<option value=${one} selected=${one === theme.value}>${say(`theme.${one.replace(" ", "-")}`)}</option>`)}
</select>`;
