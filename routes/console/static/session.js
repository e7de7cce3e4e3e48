// Who is signed in on this page, and the one client that everything here talks through.
import { Partyline } from "partyline";
import { computed, signal } from "@preact/signals";

export const partyline = new Partyline();

/** "restoring" at the start, then "in" or "out". */
export const status = signal("restoring");

/** Why nobody is signed in any more, in words; empty at the start. */
export const reason = signal("");

/** {id, name} of who is signed in, or was until a moment ago; null before. */
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

/** Take up the session of this browser, where it has one. */
export async function restore() {
  try {
    if (await partyline.restore()) enter();
    else status.value = "out";
  } catch (error) {
    reason.value = error.message;
    status.value = "out";
  }
}

/** Sign in with `{code}` of a link or `{token}`. Throws what the service refuses. */
export async function signIn(credential) {
  await partyline.signIn(credential);
  enter();
  others.postMessage("in");
}

/** End this session, here, in all tabs, and at the service. */
export async function signOut() {
  try {
    await partyline.signOut();
  } finally {
    partyline.session.end();
    others.postMessage("out");
  }
}

function enter() {
  me.value = partyline.session.user;
  permissions.value = partyline.session.permissions;
  reason.value = "";
  status.value = "in";
  partyline.rest.get("/v1/profile/self").then((self) => { role.value = self.highestRoleLabel; }, () => {});
}

function leave(why) {
  reason.value = why;
  permissions.value = [];
  role.value = "";
  status.value = "out";
}

// A `*` between colons stands for one segment (contract: permission store).
function covers(held, node) {
  const [has, wants] = [held.split(":"), node.split(":")];
  return held === "*" || (has.length === wants.length && has.every((part, at) => part === "*" || part === wants[at]));
}

partyline.session.addEventListener("renewed", enter);
partyline.session.addEventListener("end", ({ detail }) => leave(detail.message));
others.onmessage = ({ data }) => {
  if (data === "out") partyline.session.end();
  else if (status.value === "out") restore();
};
