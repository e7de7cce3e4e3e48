// Templates: htm over Preact. What people wrote goes in as text; there is no way to insert markup.
import { h } from "preact";
import htm from "htm";

// htm makes what has no values in it once, and uses it again. But what Preact has drawn knows where it stood: it would hold
// the page as that was when it was drawn first, and by that all that has left it since. Its bits say that it has values.
export const html = htm.bind(function (type, props, ...children) {
  this[0] = 3;
  return h(type, props, ...children);
});
