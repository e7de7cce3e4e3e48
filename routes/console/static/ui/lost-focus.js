// Where the focus goes when what had it is gone, or cannot be used for a while: without it whoever uses the keyboard begins
// at the top again after each row that they have dealt with. What has the focus already keeps it.

const HOMES = "li, tr, [tabindex], section";
let last = document.activeElement; // what had the focus: null once the person has left it
let isWaiting = false; // `last` could not be used when it was looked at

document.addEventListener("focusin", ({ target }) => {
  // What a dialog gives back cannot always take it: then the page has it in its stead.
  if (target.id === "main" || target.closest("dialog")) return;
  last = target;
  isWaiting = false;
});
document.addEventListener("pointerdown", () => { last = null; }, true);

new MutationObserver((changes) => {
  if (!last) return;
  const change = changes.findLast(({ removedNodes }) => [...removedNodes].some((one) => one.contains(last)));
  const isGone = !last.isConnected;
  if (change || last.matches(":disabled")) isWaiting = true; // a row that is put elsewhere is out of the page for a moment
  if (!isLost()) return;
  if (isGone) {
    last = null;
    if (change) focus(placeOf(change));
  } else if (!isWaiting) last = null;
  else if (!last.matches(":disabled")) last.focus();
}).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });

const isLost = () => document.activeElement === document.body || document.activeElement.id === "main";

// The row that has come to the place of one that is gone, else the one before it, else what both were in. It is the row and
// none of its buttons: who presses Enter once too often does nothing to it.
function placeOf({ target, nextSibling, previousSibling }) {
  const row = [nextSibling, previousSibling].find((one) => one?.isConnected && one.matches?.("li, tr"));
  return row ?? target.closest(HOMES);
}

function focus(place) {
  const home = place?.isConnected && document.getElementById("main")?.contains(place) ? place : document.getElementById("main");
  if (home && home.tabIndex < 0) home.tabIndex = -1;
  home?.focus();
}
