// Signing in and out. A code leaves the address at once, and is used by a click: no preview of a link spends it, and
// nobody is signed in to another's account unawares.
import { beginByCode, beginByToken, endCurrent, inspectLink, listIssuers, renew } from "./api.js";

const ERRORS = {
  denied: "Signing in was cancelled.",
  expired: "Signing in took too long, or was begun in another browser. Try again.",
  failed: "The account could not be verified. Try again.",
  taken: "This account belongs to another user.",
  "too-many": "You are linked with as many accounts as you may be.",
  unavailable: "The other service does not answer. Try again later.",
};
const PLACES = ["signed-in", "by-link", "sign-in"];
const part = (id) => document.getElementById(id);
const notice = (text) => { part("notice").textContent = text; };

function show(place, name = "") {
  for (const id of PLACES) part(id).hidden = id !== place;
  for (const element of part(place).querySelectorAll(".name")) element.textContent = name;
}

const enter = ({ user }) => {
  notice("");
  show("signed-in", user.name);
};

async function attempt(work) {
  try {
    await work();
  } catch (fault) {
    notice(fault.message);
  }
}

async function offer() {
  show("sign-in");
  part("listened").hidden = isSecureContext;
  const { items } = await listIssuers();
  part("issuers").replaceChildren(...items.map(({ id, name }) => {
    const link = document.createElement("a");
    link.href = `/app/sign-in/${id}`;
    link.textContent = `Continue with ${name}`;
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
}

async function begin() {
  const said = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  if (said.has("error")) notice(ERRORS[said.get("error")] ?? ERRORS.failed);
  const code = said.get("code");
  if (code !== null) {
    const { name } = await inspectLink(code).catch(async (fault) => {
      await offer();
      throw fault;
    });
    show("by-link", name);
    part("continue").onclick = () => attempt(async () => enter(await beginByCode(code)));
    return;
  }
  try {
    enter(await renew());
  } catch (fault) {
    if (fault.status !== 401) throw fault;
    await offer();
  }
}

part("sign-out").onclick = () => attempt(async () => {
  await endCurrent();
  await offer();
});
part("by-token").onsubmit = (event) => {
  event.preventDefault();
  attempt(async () => {
    enter(await beginByToken(part("token").value.trim()));
    part("by-token").reset();
  });
};
attempt(begin);
