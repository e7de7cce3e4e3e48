// Templates: htm over Preact. What people wrote goes in as text; there is no way to insert markup.
import { h, options } from "preact";
import htm from "htm";

// htm makes what has no values in it once, and uses it again. But what Preact has drawn knows where it stood: it would hold
// the page as that was when it was drawn first, and by that all that has left it since. Its bits say that it has values.
export const html = htm.bind(function (type, props, ...children) {
  this[0] = 3;
  return h(type, props, ...children);
});

// A component that draws itself anew gets a copy of its vnode. The one before stays where its parent's props have it, with
// all that it had drawn; by what was not drawn anew there, that holds the list after it, and so on, every row there has ever
// been. Preact lets it go of its parent and its element; here it lets go of its children too. (`__c`, `__v` and `__k`, the
// component, its newest vnode and what a vnode has drawn, are what Preact's own hooks and signals go by.)
const former = new WeakMap(); // {copy, until it is drawn: the vnode before it}
const { vnode: made, diffed: drawn } = options;

options.vnode = (vnode) => {
  if (vnode.__c) former.set(vnode, vnode.__c.__v);
  made?.(vnode);
};

options.diffed = (vnode) => {
  const before = former.get(vnode);
  if (before) before.__k = null;
  former.delete(vnode);
  drawn?.(vnode);
};
