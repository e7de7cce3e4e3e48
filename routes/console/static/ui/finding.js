// Everything that can be found by name or id: pages, actions, conversations, servers, people, and a pasted request id.
import { useEffect, useState } from "preact/hooks";
import { admin } from "../api.js";
import { useShared } from "../live.js";
import { PAGES } from "../pages.js";
import { SUPER_ADMIN, may, me, signOut } from "../session.js";
import { say } from "../words.js";
import { titleOf } from "./conversation-title.js";
import { toast, toasts, undoLast } from "./toast.js";

const MOST_OF_A_SORT = 6;
const TYPING_MS = 200;
const REQUEST_ID = /^[0-9a-f]{24}$/i;

/**
 * What fits what was typed, best first in each sort.
 *
 * @param {string} text
 * @param {Array<{words: string, run: () => unknown}>} actions beside those that are always there.
 * @returns {Array<{key: string, sort: string, words: string, href?: string, run?: () => unknown}>} `sort` is the key of the
 *   words for what it is.
 */
export function useFound(text, actions) {
  const [inbox, friends, servers] = ["inbox", "friends", "servers"].map((name) => useShared(name).data);
  const users = useUsers(text);
  const wanted = text.trim().toLowerCase();
  const fitting = (sort, entries) => ranked(wanted, entries).slice(0, wanted ? MOST_OF_A_SORT : Infinity).map((one) => ({ ...one, sort, key: `${sort} ${one.id ?? one.href ?? one.words}` }));
  const everywhere = [...fitting("palette.page", pages()), ...fitting("palette.action", [...own(), ...actions])];
  if (!wanted) return everywhere;
  return [
    ...everywhere,
    ...fitting("palette.conversation", (inbox?.conversations ?? []).map((one) => ({ id: one.id, words: titleOf(one), href: `/app/chat/${one.id}` }))),
    ...fitting("palette.server", (servers?.items ?? []).map((one) => ({ id: one.serverId, words: one.name, href: `/app/servers/${one.serverId}` }))),
    ...people(wanted, friends?.friends ?? [], users),
    ...(REQUEST_ID.test(wanted) && may(SUPER_ADMIN) ? [{ key: "request", sort: "palette.request", words: wanted, href: `/app/operate/audit?requestId=${wanted}` }] : []),
  ];
}

const pages = () => PAGES.filter((page) => page.group !== null && may(page.needs)).map((page) => ({ words: say(page.title), href: page.path.replace(/\/:.*$/, "") }));

function own() {
  const last = toasts.value.findLast((one) => one.undo);
  return [
    ...(last ? [{ words: say("palette.undo", { what: last.text }), run: undoLast }] : []),
    { words: say("claim.title"), href: "/app/servers/claim" },
    { words: say("action.signOut"), run: () => signOut().catch((error) => toast(error.message, { tone: "bad" })) },
  ];
}

// Whoever may look up users goes to what operators see of them; everybody else finds friends.
function people(wanted, friends, users) {
  if (may("admin:user:view")) return users.map((user) => ({ key: user.userId, sort: "palette.user", words: user.name, href: `/app/operate/users/${user.userId}` }));
  return ranked(wanted, friends.map((one) => ({ id: one.friendId, words: one.name }))).slice(0, MOST_OF_A_SORT)
    .map((one) => ({ ...one, key: one.id, sort: "palette.friend", href: `/app/people/${one.id}` }));
}

function useUsers(text) {
  const [users, setUsers] = useState([]);
  const query = text.trim();
  useEffect(() => {
    setUsers([]);
    if (!query || query.length > 64 || !may("admin:user:view")) return undefined;
    const aborting = new AbortController();
    const timer = setTimeout(() => {
      admin.users({ query, limit: MOST_OF_A_SORT }, aborting.signal).then(({ items }) => setUsers(items.filter((one) => one.userId !== me.value.id)), () => {});
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      aborting.abort();
    };
  }, [query]);
  return users;
}

// Whole ids, beginnings of names, beginnings of words in them, then what has it anywhere.
function ranked(wanted, entries) {
  if (!wanted) return entries;
  const rank = ({ id, words }) => {
    const name = words.replace(/[\u2068\u2069]/g, "").toLowerCase(); // nobody types what isolates a name
    if (id === wanted || name.startsWith(wanted)) return 0;
    if (name.includes(` ${wanted}`)) return 1;
    return name.includes(wanted) || (wanted.length >= 8 && id?.startsWith(wanted)) ? 2 : 3;
  };
  return entries.map((one) => [rank(one), one]).filter(([at]) => at < 3).sort(([one], [other]) => one - other).map(([, one]) => one);
}
