// The table of contents: which address shows which page, in which group of the navigation, and for whom.
import { may, mayAnyOf } from "./session.js";

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
  { path: "/app/notifications", title: "notifications.title", group: "play", isFor: everybody, load: () => import("./pages/notifications.js") },
  { path: "/app/profile", title: "profile.title", group: "play", isFor: everybody, load: () => import("./pages/profile.js") },
];

/** Groups of the navigation, in order, and whom each is shown to. */
export const GROUPS = [
  { name: "play", isFor: everybody },
  { name: "run", isFor: () => may("connect:settings:read") },
  { name: "operate", isFor: () => mayAnyOf("admin:").value || may("capes:moderate") },
];
