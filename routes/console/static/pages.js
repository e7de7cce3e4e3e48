// The table of contents: which address shows which page, in which group of the navigation, and for whom.
import { MODERATOR, SUPER_ADMIN } from "./session.js";

/**
 * Each page: its address (`:name` is a part, `?` makes it optional), the key of its title, the group that it stands in
 * (none for a page that is only linked), the right by which one sees it there (null: everybody), and what loads it.
 */
export const PAGES = [
  { path: "/app", title: "home.title", group: "play", needs: null, load: () => import("./pages/home.js") },
  { path: "/app/chat/:id?", title: "chat.title", group: "play", needs: null, load: () => import("./pages/chat/chat.js") },
  { path: "/app/friends", title: "friends.title", group: "play", needs: null, load: () => import("./pages/friends.js") },
  { path: "/app/party", title: "party.title", group: "play", needs: null, load: () => import("./pages/party.js") },
  { path: "/app/discover", title: "discover.title", group: "play", needs: null, load: () => import("./pages/discover.js") },
  { path: "/app/saved", title: "saved.title", group: "play", needs: null, load: () => import("./pages/saved.js") },
  { path: "/app/capes", title: "capes.title", group: "play", needs: null, load: () => import("./pages/capes.js") },
  { path: "/app/notifications", title: "notifications.title", group: "play", needs: null, load: () => import("./pages/notifications.js") },
  { path: "/app/profile", title: "profile.title", group: "play", needs: null, load: () => import("./pages/profile/profile.js") },
  { path: "/app/servers", title: "servers.title", group: "run", needs: "connect:settings:read", load: () => import("./pages/servers/list.js") },
  { path: "/app/servers/claim", title: "claim.title", group: null, needs: null, load: () => import("./pages/servers/claim.js") },
  { path: "/app/servers/:id/:tab?", title: "servers.title", group: null, needs: null, load: () => import("./pages/servers/server.js") },
  { path: "/app/networks/:id?", title: "networks.title", group: "run", needs: "connect:settings:read", load: () => import("./pages/networks.js") },
  { path: "/app/operate", title: "metrics.title", group: "operate", needs: SUPER_ADMIN, load: () => import("./pages/operate/metrics.js") },
  { path: "/app/operate/users/:id?", title: "users.title", group: "operate", needs: "admin:user:view", load: () => import("./pages/operate/users.js") },
  { path: "/app/operate/reports", title: "reports.title", group: "operate", needs: MODERATOR, load: () => import("./pages/operate/reports.js") },
  { path: "/app/operate/capes", title: "moderation.capes", group: "operate", needs: "capes:moderate", load: () => import("./pages/operate/capes.js") },
  { path: "/app/operate/actors", title: "actors.title", group: "operate", needs: SUPER_ADMIN, load: () => import("./pages/operate/actors.js") },
  { path: "/app/operate/listing", title: "listing.title", group: "operate", needs: "admin:connect:manage", load: () => import("./pages/operate/listing.js") },
  { path: "/app/operate/audit", title: "audit.title", group: "operate", needs: SUPER_ADMIN, load: () => import("./pages/operate/audit.js") },
];

/** Groups of the navigation, in order; one appears to whoever sees a page in it. */
export const GROUPS = ["play", "run", "operate"];
