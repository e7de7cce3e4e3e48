// Who is signed in on this page, and the one client that everything here talks through.
import { Partyline } from "partyline";
import { batch, computed, signal } from "@preact/signals";
import { say } from "./words.js";

export const partyline = new Partyline();

/** "restoring" at the start, then "in" or "out". */
export const status = signal("restoring");

/** Why nobody is signed in any more, in words; empty at the start. */
export const reason = signal("");

/** {id, name} of who is signed in; null for nobody. */
export const me = signal(null);

const permissions = signal([]);
const role = signal("");

/** In place of a node: what only super-admins may, and what whoever has any role may. */
export const SUPER_ADMIN = "super-admin";
export const MODERATOR = "moderator";

/** {nodes, role} of whoever is signed in: `role` is the label of the highest, empty until the service has said it. */
export const own = computed(() => ({ nodes: permissions.value, role: role.value }));

/**
 * Whether somebody has a right; pages only draw by it, the service decides.
 *
 * @param {{nodes: string[], role: string}} rights
 * @param {string|null} needs a node, SUPER_ADMIN, MODERATOR, or null for what everybody may.
 */
export function holds({ nodes, role: label }, needs) {
  switch (needs) {
    case null: return true;
    case SUPER_ADMIN: return label === "Super Admin";
    case MODERATOR: return label !== "" && label !== "User";
    default: return nodes.some((held) => covers(held, needs));
  }
}

/** Whether whoever is signed in has a right. */
export const may = (needs) => holds(own.value, needs);

const others = new BroadcastChannel("partyline-session");

let hasGivenWay = false;

/** Take up the session of this browser, where it has one (`renewed` says so). */
export async function restore() {
  try {
    if (!(await partyline.restore())) status.value = "out";
  } catch (error) {
    reason.value = error.message;
    status.value = "out";
  }
}

/** Sign in with `{code}` of a link or `{token}`. Throws what the service refuses. */
export async function signIn(credential) {
  await partyline.signIn(credential);
  others.postMessage("in");
  enter();
}

/** End this session, at the service, here, and in all tabs. Throws where the service does not answer: then it goes on. */
export async function signOut() {
  try {
    await partyline.signOut();
  } catch (error) {
    if (error.status !== 401) throw error;
  }
  others.postMessage("out");
  forget();
}

// A new document has a new memory: nothing of what this one knew is in it.
function forget() {
  leave("");
  location.replace("/app/sign-in");
}

// What the one before had begun to write is kept for them alone, also where another user signs in from another tab.
function giveWay() {
  hasGivenWay = true;
  location.replace("/app");
}

function enter() {
  if (hasGivenWay) return;
  me.value = partyline.session.user;
  permissions.value = partyline.session.permissions;
  reason.value = "";
  status.value = "in";
  partyline.rest.get("/v1/profile/self").then((self) => { role.value = self.highestRoleLabel; }, () => {});
}

function leave(why) {
  batch(() => {
    status.value = "out";
    reason.value = why;
    me.value = null;
    permissions.value = [];
    role.value = "";
  });
}

// A `*` between colons stands for one segment (contract: permission store).
function covers(held, node) {
  const [has, wants] = [held.split(":"), node.split(":")];
  return held === "*" || (has.length === wants.length && has.every((part, at) => part === "*" || part === wants[at]));
}

partyline.session.addEventListener("other", giveWay);
partyline.session.addEventListener("renewed", enter);
partyline.session.addEventListener("end", () => leave(say("signIn.ended")));
others.onmessage = ({ data }) => {
  if (data === "out") forget();
  else if (status.value === "out") restore();
};

// A browser may keep the page as it is while another is shown, and bring it back after the session has ended.
addEventListener("pagehide", ({ persisted }) => { if (persisted && status.value === "in") status.value = "restoring"; });
addEventListener("pageshow", ({ persisted }) => { if (persisted) restore(); });
