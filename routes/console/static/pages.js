// The table of contents: which address shows which page, in which group of the navigation, and for whom.
import { isModerator, isSuperAdmin, may } from "./session.js";

const everybody = () => true;

/**
 * Each page: its address (`:name` is a part, `?` makes it optional), the key of its title, the group that it stands in
 * (none for a page that is only linked), who sees it there, and what loads it.
 */
export const PAGES = [
  { path: "/app", title: "home.title", group: "play", isFor: everybody, load: () => import("./pages/home.js") },
  { path: "/app/chat/:id?", title: "chat.title", group: "play", isFor: everybody, load: () => import("./pages/chat/chat.js") },
  { path: "/app/friends", title: "friends.title", group: "play", isFor: everybody, load: () => import("./pages/friends.js") },
  { path: "/app/party", title: "party.title", group: "play", isFor: everybody, load: () => import("./pages/party.js") },
  { path: "/app/discover", title: "discover.title", group: "play", isFor: everybody, load: () => import("./pages/discover.js") },
  { path: "/app/saved", title: "saved.title", group: "play", isFor: everybody, load: () => import("./pages/saved.js") },
  { path: "/app/capes", title: "capes.title", group: "play", isFor: everybody, load: () => import("./pages/capes.js") },
  { path: "/app/notifications", title: "notifications.title", group: "play", isFor: everybody, load: () => import("./pages/notifications.js") },
  { path: "/app/profile", title: "profile.title", group: "play", isFor: everybody, load: () => import("./pages/profile/profile.js") },
  { path: "/app/servers", title: "servers.title", group: "run", isFor: everybody, load: () => import("./pages/servers/list.js") },
  { path: "/app/servers/claim", title: "claim.title", group: null, isFor: everybody, load: () => import("./pages/servers/claim.js") },
  { path: "/app/servers/:id/:tab?", title: "servers.title", group: null, isFor: everybody, load: () => import("./pages/servers/server.js") },
  { path: "/app/networks/:id?", title: "networks.title", group: "run", isFor: everybody, load: () => import("./pages/networks.js") },
  { path: "/app/operate", title: "metrics.title", group: "operate", isFor: () => isSuperAdmin.value, load: () => import("./pages/operate/metrics.js") },
  { path: "/app/operate/users/:id?", title: "users.title", group: "operate", isFor: () => may("admin:user:view"), load: () => import("./pages/operate/users.js") },
  { path: "/app/operate/reports", title: "reports.title", group: "operate", isFor: () => isModerator.value, load: () => import("./pages/operate/reports.js") },
  { path: "/app/operate/capes", title: "moderation.capes", group: "operate", isFor: () => isModerator.value, load: () => import("./pages/operate/capes.js") },
  { path: "/app/operate/actors", title: "actors.title", group: "operate", isFor: () => isSuperAdmin.value, load: () => import("./pages/operate/actors.js") },
  { path: "/app/operate/listing", title: "listing.title", group: "operate", isFor: () => may("admin:connect:manage"), load: () => import("./pages/operate/listing.js") },
  { path: "/app/operate/audit", title: "audit.title", group: "operate", isFor: () => isSuperAdmin.value, load: () => import("./pages/operate/audit.js") },
];

/** Groups of the navigation, in order, and whom each is shown to. */
export const GROUPS = [
  { name: "play", isFor: everybody },
  { name: "run", isFor: () => may("connect:settings:read") },
  { name: "operate", isFor: () => isModerator.value || may("admin:user:view") },
];
