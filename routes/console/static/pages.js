// The table of contents: which address shows which page, in which group of the navigation, and for whom.
import { MODERATOR, SUPER_ADMIN } from "./session.js";
import { loadWords } from "./words.js";

// Home and Chat come with the first words; pages of each group have words of their own, which nobody else has to load.
const withWords = (part, load) => () => Promise.all([load(), loadWords(part)]).then(([page]) => page);
const play = (load) => withWords("play", load);
const run = (load) => withWords("run", load);
const operate = (load) => withWords("operate", load);

/**
 * Each page: its address (`:name` is a part, `?` makes it optional), the key of its title, the group that it stands in
 * (none for a page that is only linked), the right by which one sees it there (null: everybody), and what loads it.
 */
export const PAGES = [
  { path: "/app", title: "home.title", group: "play", needs: null, load: () => import("./pages/home/home.js") },
  { path: "/app/chat/:id?", title: "chat.title", group: "play", needs: null, load: () => import("./pages/chat/chat.js") },
  { path: "/app/friends", title: "friends.title", group: "play", needs: null, load: play(() => import("./pages/friends.js")) },
  { path: "/app/people/:id", title: "people.title", group: null, needs: null, load: play(() => import("./pages/people.js")) },
  { path: "/app/party", title: "party.title", group: "play", needs: null, load: play(() => import("./pages/party.js")) },
  { path: "/app/discover", title: "discover.title", group: "play", needs: null, load: play(() => import("./pages/discover.js")) },
  { path: "/app/saved", title: "saved.title", group: "play", needs: null, load: play(() => import("./pages/saved.js")) },
  { path: "/app/quests", title: "quests.title", group: "play", needs: null, load: play(() => import("./pages/quests.js")) },
  { path: "/app/capes", title: "capes.title", group: "play", needs: null, load: play(() => import("./pages/capes.js")) },
  { path: "/app/totem", title: "totem.title", group: "play", needs: "totem:read", load: play(() => import("./pages/totem/totem.js")) },
  { path: "/app/news/:id?", title: "news.title", group: "play", needs: null, load: play(() => import("./pages/news/news.js")) },
  { path: "/app/shop", title: "shop.title", group: "play", needs: null, load: play(() => import("./pages/shop/shop.js")) },
  { path: "/app/notifications", title: "notifications.title", group: "play", needs: null, load: play(() => import("./pages/notifications.js")) },
  { path: "/app/profile", title: "profile.title", group: "play", needs: null, load: play(() => import("./pages/profile/profile.js")) },
  { path: "/app/servers", title: "servers.title", group: "run", needs: "connect:settings:read", load: run(() => import("./pages/servers/list.js")) },
  { path: "/app/servers/claim", title: "claim.title", group: null, needs: null, load: run(() => import("./pages/servers/claim.js")) },
  { path: "/app/servers/:id/:tab?", title: "servers.title", group: null, needs: null, load: run(() => import("./pages/servers/server.js")) },
  { path: "/app/networks/:id?/:tab?", title: "networks.title", group: "run", needs: "connect:settings:read", load: run(() => import("./pages/networks/networks.js")) },
  { path: "/app/extensions", title: "extensions.title", group: "run", needs: "connect:settings:read", load: run(() => import("./pages/extensions/extensions.js")) },
  { path: "/app/operate", title: "metrics.title", group: "operate", needs: SUPER_ADMIN, load: operate(() => import("./pages/operate/metrics.js")) },
  { path: "/app/operate/users/:id?", title: "users.title", group: "operate", needs: "admin:user:view", load: operate(() => import("./pages/operate/users.js")) },
  { path: "/app/operate/reports", title: "reports.title", group: "operate", needs: MODERATOR, load: operate(() => import("./pages/operate/reports.js")) },
  { path: "/app/operate/capes", title: "moderation.capes", group: "operate", needs: "capes:moderate", load: operate(() => import("./pages/operate/capes.js")) },
  { path: "/app/operate/actors", title: "actors.title", group: "operate", needs: SUPER_ADMIN, load: operate(() => import("./pages/operate/actors.js")) },
  { path: "/app/operate/listing", title: "listing.title", group: "operate", needs: "admin:connect:manage", load: operate(() => import("./pages/operate/listing.js")) },
  { path: "/app/operate/gateways", title: "gateways.title", group: "operate", needs: "admin:connect:manage", load: operate(() => import("./pages/operate/gateways.js")) },
  { path: "/app/operate/voice", title: "voice.title", group: "operate", needs: "social:voice.manage", load: operate(() => import("./pages/operate/voice.js")) },
  { path: "/app/operate/versions", title: "versions.title", group: "operate", needs: "versions:write", load: operate(() => import("./pages/operate/versions.js")) },
  { path: "/app/operate/launcher", title: "launcher.title", group: "operate", needs: "versions:track", load: operate(() => import("./pages/operate/launcher.js")) },
  { path: "/app/operate/news", title: "newsdesk.title", group: "operate", needs: "news:write", load: operate(() => import("./pages/operate/news.js")) },
  { path: "/app/operate/shop", title: "shopdesk.title", group: "operate", needs: "shop:manage", load: operate(() => import("./pages/operate/shop.js")) },
  { path: "/app/operate/audit", title: "audit.title", group: "operate", needs: SUPER_ADMIN, load: operate(() => import("./pages/operate/audit.js")) },
];

/** Groups of the navigation, in order; one appears to whoever sees a page in it. */
export const GROUPS = ["play", "run", "operate"];
