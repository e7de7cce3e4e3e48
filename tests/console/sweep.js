// What a test asks of a page that it visits, in the page; `sweep.py` says what for.
window.sweep = {
  /** What Back and Forward do: the page changes, the document stays. Two frames later the new one is there, or loading;
   * the addresses of its tabs, once it has all that it shows. */
  async go(path, patienceMs) {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
    const untilMs = performance.now() + patienceMs;
    for (let frames = 0; frames < 2 || !isWhole(); frames++) {
      if (performance.now() > untilMs) throw new Error(`${path} does not come`);
      await new Promise(requestAnimationFrame);
    }
    return [...document.querySelectorAll("main nav.tabs a")].map((one) => one.pathname);
  },

  /** Show the page as somebody sees it who has chosen one of the two themes. */
  paint(scheme) {
    document.documentElement.style.colorScheme = scheme;
  },

  /** Keep in mind what is shown now. */
  remember() {
    shown = new Set(visible());
  },

  /** What is shown now and was not when it was kept in mind. */
  news() {
    return visible().filter((one) => !shown.has(one));
  },

  /** What does not fit: a page that scrolls sideways, and what leaves it or is cut without dots. What scrolls inside
   * itself, as tables do, may. Charts follow their boxes a frame later. */
  async cutOff() {
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    const boxes = [document.scrollingElement, document.querySelector("main")].filter((box) => box.scrollWidth > box.clientWidth);
    return [...boxes.map((box) => `${nameOf(box)} scrolls sideways`), ...[...document.querySelectorAll("body *")].flatMap(misfit)];
  },

  /** What is on or current while only a background says so, which forced colours take away. */
  unseen() {
    return [...document.querySelectorAll("[aria-pressed=true], [aria-current=page], [aria-current=true]")]
      .filter((one) => one.checkVisibility() && getComputedStyle(one).outlineStyle === "none")
      .map((one) => `unseen in forced colours: ${nameOf(one)}`);
  },

  /** What stands in several rows and is called the same in each: out of their places nobody tells one from the others. What is
   * called by a value, such as a name or an id, does the same wherever it stands. */
  alike() {
    const rows = new Map();
    for (const one of document.querySelectorAll("main :is(li, tr) :is(button, a[href], summary)")) {
      const isNamed = one.ariaLabel !== null || one.closest("[aria-describedby]") || one.querySelector("bdi, .hidden");
      if (!isNamed && isThere(one)) rows.set(nameOf(one), (rows.get(nameOf(one)) ?? new Set()).add(one.closest("li, tr")));
    }
    return [...rows].filter(([, found]) => found.size > 1).map(([name]) => `several rows have ${name}`);
  },

  /** What moves. */
  moving() {
    return document.getAnimations().map((one) => `moves: ${nameOf(one.effect.target)}`);
  },

  /** Begin before the first control of the page, or of the frame around it, and note where the focus goes. How many
   * controls are to be reached. */
  begin(within) {
    document.querySelector(within === "main" ? within : ".skip").focus();
    place = within;
    reached = [];
    stopping = new AbortController();
    document.addEventListener("focusin", ({ target }) => reached.push(stopAt(target)), { signal: stopping.signal });
    // Of the buttons of a radio group Tab reaches one.
    wanted = [...document.querySelector(within).querySelectorAll(CONTROLS)].filter((one) => isThere(one) && !one.disabled && one.type !== "radio");
    return wanted.length;
  },

  /** What was wrong on the way. */
  end() {
    stopping.abort();
    const met = new Set(reached.map((one) => one.target));
    const inside = reached.filter((one) => one.isInside);
    const isOut = inside.length < reached.length || !document.activeElement.closest(place);
    return [
      ...wanted.filter((one) => one.isConnected && !met.has(one)).map((one) => `Tab does not reach ${nameOf(one)}`),
      ...inside.filter((one) => one.outlinePx < 2).map((one) => `the focus is not seen on ${nameOf(one.target)}`),
      ...inside.filter((one) => !one.isSeen).map((one) => `the focus is out of sight on ${nameOf(one.target)}`),
      ...(isOut ? [] : [`Tab does not leave ${place}`]),
    ];
  },
};

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
let shown = new Set();
let place = "main";
let reached = [];
let wanted = [];
let stopping = null;

const visible = () => [...document.querySelectorAll("body *")].filter((one) => isThere(one));
const isWhole = () => document.querySelector("main h1")?.checkVisibility() && !document.querySelector("main :is(.loading, [aria-busy=true])");
const nameOf = (one) => `${one.localName}.${one.className} "${(one.ariaLabel ?? one.textContent).trim().slice(0, 60)}"`;
const isThere = (one) => one.checkVisibility({ visibilityProperty: true });

function stopAt(target) {
  // A file is chosen by its button, which shows the focus for it.
  const shown = target.closest("label.button") ?? target;
  const { outlineStyle, outlineWidth } = getComputedStyle(shown);
  const { top, bottom, left, right, width, height } = shown.getBoundingClientRect();
  const bar = document.querySelector(".savebar")?.getBoundingClientRect();
  const isCovered = bar && !target.closest(".savebar") && top > bar.top && bottom < bar.bottom;
  const isInside = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  return { target, isInside: Boolean(target.closest(place)), isSeen: isInside && !isCovered, outlinePx: outlineStyle === "none" ? 0 : parseFloat(outlineWidth) };
}

function misfit(one) {
  const { left, right, width, height } = one.getBoundingClientRect();
  if (width === 0 || height === 0 || !isThere(one) || one.closest(".hidden, .skip, svg, canvas")) return [];
  const style = getComputedStyle(one);
  const isText = [...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
  const isClipped = ["hidden", "clip"].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
  return [
    ...(!scrollsInside(one) && (right > innerWidth + 1 || left < -1) ? [`${nameOf(one)} leaves the page`] : []),
    ...(isText && isClipped && style.textOverflow !== "ellipsis" ? [`${nameOf(one)} is cut off`] : []),
  ];
}

function scrollsInside(one) {
  for (let box = one.parentElement; box && box.localName !== "main"; box = box.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return true;
  }
  return false;
}
