// What changes something, page by page, and the right that it needs; a test holds each against the route that it calls.
import { MODERATOR, SUPER_ADMIN } from "../../session.js";

const CHAT = "social:chat.write";
const FRIENDS = "social:friends.edit";
const MEMBERS = "connect:members:write";
const LISTING = "admin:connect:manage";

/** Each button: the page that it is on, the key of its words, the request of `api.js`, and the right that this needs. */
export const BUTTONS = [
  { page: "/app/chat/:id?", words: "chat.begin", call: "chat.open", needs: CHAT },
  { page: "/app/chat/:id?", words: "chat.attach", call: "chat.attach", needs: CHAT },
  { page: "/app/chat/:id?", words: "chat.rename", call: "chat.change", needs: CHAT },
  { page: "/app/chat/:id?", words: "chat.add", call: "chat.add", needs: CHAT },
  { page: "/app/chat/:id?", words: "chat.leave", call: "chat.leave", needs: CHAT },
  { page: "/app/friends", words: "friends.ask", call: "friends.request", needs: "social:friends.write" },
  { page: "/app/friends", words: "friends.accept", call: "friends.accept", needs: FRIENDS },
  { page: "/app/friends", words: "friends.remove", call: "friends.remove", needs: FRIENDS },
  { page: "/app/friends", words: "friends.block", call: "friends.block", needs: FRIENDS },
  { page: "/app/party", words: "party.create", call: "party.create", needs: null },
  { page: "/app/discover", words: "discover.save", call: "publicServers.save", needs: null },
  { page: "/app/capes", words: "capes.upload", call: "capes.create", needs: null },
  { page: "/app/capes", words: "capes.wear", call: "capes.wear", needs: null },
  { page: "/app/totem", words: "totem.carry", call: "totems.carry", needs: "totem:write" },
  { page: "/app/totem", words: "totem.upload", call: "totems.upload", needs: "totem:write" },
  { page: "/app/servers/claim", words: "claim.claim", call: "servers.claim", needs: null },
  { page: "/app/servers/:id/:tab?", words: "commands.send", call: "servers.send", needs: "connect:commands:write" },
  { page: "/app/servers/:id/:tab?", words: "server.settings", call: "servers.saveSettings", needs: "connect:settings:write" },
  { page: "/app/servers/:id/:tab?", words: "members.invite", call: "servers.invite", needs: MEMBERS },
  { page: "/app/servers/:id/:tab?", words: "members.remove", call: "servers.removeMember", needs: MEMBERS },
  { page: "/app/servers/:id/:tab?", words: "policy.title", call: "servers.setPolicy", needs: MEMBERS },
  { page: "/app/servers/:id/:tab?", words: "publication.withdraw", call: "publications.withdraw", needs: null },
  { page: "/app/servers/:id/:tab?", words: "danger.rotate", call: "servers.rotateSecret", needs: null },
  { page: "/app/servers/:id/:tab?", words: "danger.remove", call: "servers.remove", needs: null },
  { page: "/app/networks/:id?/:tab?", words: "networks.create", call: "networks.create", needs: null },
  { page: "/app/networks/:id?/:tab?", words: "networks.addDomain", call: "networks.addDomain", needs: null },
  { page: "/app/networks/:id?/:tab?", words: "networks.joinToken", call: "networks.joinToken", needs: null },
  { page: "/app/networks/:id?/:tab?", words: "networks.remove", call: "networks.remove", needs: null },
  { page: "/app/extensions", words: "extensions.make", call: "extensions.create", needs: null },
  { page: "/app/operate/users/:id?", words: "notes.add", call: "admin.addNote", needs: MODERATOR },
  { page: "/app/operate/users/:id?", words: "grants.grant", call: "admin.grant", needs: SUPER_ADMIN },
  { page: "/app/operate/users/:id?", words: "users.revoke", call: "admin.revokeTokens", needs: SUPER_ADMIN },
  { page: "/app/operate/users/:id?", words: "users.erase", call: "admin.erase", needs: SUPER_ADMIN },
  { page: "/app/operate/reports", words: "reports.verdict.actioned", call: "admin.settle", needs: MODERATOR },
  { page: "/app/operate/capes", words: "capes.verdict.approved", call: "capes.judge", needs: "capes:moderate" },
  { page: "/app/operate/listing", words: "listing.suppress", call: "admin.changePublication", needs: LISTING },
  { page: "/app/operate/listing", words: "listing.feature", call: "admin.changePublication", needs: LISTING },
  { page: "/app/operate/gateways", words: "gateways.drain", call: "admin.changeGateway", needs: LISTING },
  { page: "/app/operate/versions", words: "versions.activate", call: "versions.activate", needs: "versions:publish" },
  { page: "/app/operate/versions", words: "versions.yank", call: "versions.change", needs: "versions:write" },
  { page: "/app/operate/versions", words: "versions.remove", call: "versions.remove", needs: "versions:write" },
  { page: "/app/operate/launcher", words: "launcher.hosts", call: "launcher.setHosts", needs: "versions:publish" },
  { page: "/app/operate/news", words: "newsdesk.write", call: "news.write", needs: null },
  { page: "/app/operate/news", words: "newsdesk.change", call: "news.change", needs: null },
  { page: "/app/operate/shop", words: "shopdesk.make", call: "shop.createProduct", needs: "shop:manage" },
  { page: "/app/operate/shop", words: "shopdesk.paid", call: "shop.markPaid", needs: "shop:manage" },
  { page: "/app/operate/shop", words: "shopdesk.refund", call: "shop.refund", needs: "shop:manage" },
];
