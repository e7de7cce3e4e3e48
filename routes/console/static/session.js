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

/** Whether the user is a super-admin, or a moderator or more; false until the service has said so. */
export const isSuperAdmin = computed(() => role.value === "Super Admin");
export const isModerator = computed(() => isSuperAdmin.value || permissions.value.includes("capes:moderate"));

/** Whether the user holds a right; the page only draws by it, the service decides. */
export const may = (node) => permissions.value.some((held) => covers(held, node));

const others = new BroadcastChannel("partyline-session");

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
  const { lastUserId } = partyline.session;
  await partyline.signIn(credential);
  others.postMessage("in");
  // What the one before had begun to write is kept for them alone.
  if (lastUserId !== null && lastUserId !== partyline.session.user.id) location.replace("/app");
  else enter();
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

function enter() {
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

partyline.session.addEventListener("renewed", enter);
partyline.session.addEventListener("end", () => leave(say("signIn.ended")));
others.onmessage = ({ data }) => {
  if (data === "out") forget();
  else if (status.value === "out") restore();
};

// A browser may keep the page as it is while another is shown, and bring it back after the session has ended.
addEventListener("pagehide", ({ persisted }) => { if (persisted && status.value === "in") status.value = "restoring"; });
addEventListener("pageshow", ({ persisted }) => { if (persisted) restore(); });
