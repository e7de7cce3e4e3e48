// Templates: htm over Preact. What people wrote goes in as text; there is no way to insert markup.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
