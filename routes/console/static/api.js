// Every request that the console makes, by name. Whoever looks for what a page asks of the service finds it here.
import { partyline } from "./session.js";

const { rest } = partyline;
const id = encodeURIComponent;

// What was read, with the tag by which its change is known to be made from the newest: {value, etag}.
const tagged = async (asked, read = (response) => response.json()) => {
  const response = await asked;
  return { value: await read(response), etag: response.headers.get("ETag") };
};

// All of a list that nearly always fits into one page: {items}.
const whole = async (path, signal) => {
  const items = [];
  for await (const item of rest.items(path, { limit: 200 }, { signal })) items.push(item);
  return { items };
};

export const issuers = () => rest.get("/v1/public/issuers", {}, { anonymous: true });
export const setUp = (code, name) => rest.post("/v1/setup", { code, name }, { anonymous: true, credentials: "same-origin" });
export const inspectLink = (code) => rest.post("/v1/sign-in-links/inspect", { code }, { anonymous: true });
export const bytes = (path, signal) => rest.get(path, {}, { raw: true, signal });

export const sessions = {
  list: (signal) => rest.get("/v1/sessions", {}, { signal }),
  end: (sessionId) => rest.delete(`/v1/sessions/${id(sessionId)}`),
  endOthers: () => rest.delete("/v1/sessions"),
  // The cookie shows that this browser asks: what a token alone asks for ends with that token.
  link: (userId) => rest.post("/v1/sign-in-links", userId ? { userId } : {}, { credentials: "same-origin" }),
};

export const identities = {
  list: (signal) => rest.get("/v1/profile/identities", {}, { signal }),
  link: (issuer) => rest.post("/v1/profile/identities", { issuer }, { credentials: "same-origin" }),
  remove: (identity) => rest.delete(`/v1/profile/identities/${id(identity)}`),
};

export const chat = {
  list: (query, signal) => rest.get("/v1/social/chat/conversations", query, { signal }),
  open: (participantIds, kind, title) => rest.post("/v1/social/chat/conversations", { kind, participantIds, ...(title && { title }) }),
  messages: (conversation, query, signal) => rest.get(`/v1/social/chat/conversations/${id(conversation)}/messages`, query, { signal }),
  revisions: (conversation, message, signal) =>
    rest.get(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}/revisions`, {}, { signal }),
  edit: (conversation, message, content, mentions) =>
    rest.patch(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}`, { content, mentions }),
  remove: (conversation, message) => rest.delete(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}`),
  vote: (conversation, message, optionIds) => rest.post(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}/poll/vote`, { optionIds }),
  closePoll: (conversation, message) => rest.post(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}/poll/close`),
  change: (conversation, changes) => rest.patch(`/v1/social/chat/conversations/${id(conversation)}`, changes),
  participants: (conversation, query, signal) => rest.get(`/v1/social/chat/conversations/${id(conversation)}/participants`, query, { signal }),
  add: (conversation, userIds) => rest.post(`/v1/social/chat/conversations/${id(conversation)}/participants`, { userIds }),
  leave: (conversation, userId) => rest.delete(`/v1/social/chat/conversations/${id(conversation)}/participants/${id(userId)}`),
  attach: (conversation, file) => rest.post(`/v1/social/chat/conversations/${id(conversation)}/attachments`, file),
};

export const friends = {
  request: (targetName, note) => rest.post("/v1/social/friends/requests", { targetName, ...(note && { note }) }),
  accept: (request) => rest.post(`/v1/social/friends/requests/${id(request)}/accept`),
  decline: (request) => rest.post(`/v1/social/friends/requests/${id(request)}/decline`),
  cancel: (request) => rest.delete(`/v1/social/friends/requests/${id(request)}`),
  change: (friend, changes) => rest.patch(`/v1/social/friends/${id(friend)}`, changes),
  remove: (friend) => rest.delete(`/v1/social/friends/${id(friend)}`),
  blocks: (query, signal) => rest.get("/v1/social/friends/blocks", query, { signal }),
  block: (targetId, reason) => rest.post("/v1/social/friends/blocks", { targetId, ...(reason && { reason }) }),
  report: (targetId, reason) => rest.post("/v1/social/friends/reports", { targetId, ...(reason && { reason }) }),
  unblock: (target) => rest.delete(`/v1/social/friends/blocks/${id(target)}`),
};

export const party = {
  create: () => rest.post("/v1/social/party"),
  leave: () => rest.post("/v1/social/party/leave"),
  disband: () => rest.delete("/v1/social/party"),
  invite: (targetId) => rest.post("/v1/social/party/invites", { targetId }),
  accept: (party) => rest.post(`/v1/social/party/invites/${id(party)}/accept`),
  decline: (party) => rest.post(`/v1/social/party/invites/${id(party)}/decline`),
  withdraw: (party, target) => rest.delete(`/v1/social/party/invites/${id(party)}/${id(target)}`),
  kick: (player) => rest.delete(`/v1/social/party/members/${id(player)}`),
  promote: (playerId) => rest.put("/v1/social/party/leader", { playerId }),
  setSelectors: (selectorIds) => rest.put("/v1/social/party/lobby/selectors", { selectorIds }),
  select: (selection) => rest.put("/v1/social/party/lobby/selection", selection),
  setReady: (ready) => rest.put("/v1/social/party/lobby/ready", { ready, profilePrepared: ready }),
};

export const people = {
  read: (identifier, signal) => rest.get(`/v1/public/users/${id(identifier)}`, {}, { signal }),
  servers: (user, signal) => rest.get(`/v1/users/${id(user)}/public-servers/saved`, {}, { signal }),
  friends: (user, signal) => rest.get(`/v1/users/${id(user)}/friends`, {}, { signal }),
};

export const quests = {
  list: (signal) => rest.get("/v1/quests/daily-games", {}, { signal }),
  reroll: (questId) => rest.post("/v1/quests/daily-games/reroll", { questId }),
};

export const notifications = {
  list: (query, signal) => rest.get("/v1/notifications", query, { signal }),
  read: (ids) => rest.post("/v1/notifications/read", { ids }),
};

export const profile = {
  own: (signal) => rest.get("/v1/profile/self", {}, { signal }),
  settings: (signal) => tagged(rest.get("/v1/profile/settings", {}, { signal, raw: true })),
  change: (changes, ifMatch) => tagged(rest.patch("/v1/profile/settings", changes, { ifMatch, raw: true })),
  level: (signal) => rest.get("/v1/profile/level", {}, { signal }),
};

export const servers = {
  claim: (claimKey) => rest.post("/v1/connect/servers/claim", { claimKey }),
  change: (server, changes) => rest.patch(`/v1/connect/servers/${id(server)}`, changes),
  remove: (server) => rest.delete(`/v1/connect/servers/${id(server)}`),
  rotateSecret: (server) => rest.post(`/v1/connect/servers/${id(server)}/secret/rotate`),
  commands: (server, query, signal) => rest.get(`/v1/connect/servers/${id(server)}/commands`, query, { signal }),
  send: (server, command) => rest.post(`/v1/connect/servers/${id(server)}/commands`, command),
  cancel: (server, command) => rest.delete(`/v1/connect/servers/${id(server)}/commands/${id(command)}`),
  // `read` takes what a game server has stored from the response: its numbers may be longer than JavaScript's.
  settings: (server, source, read, signal) => tagged(rest.get(`/v1/connect/servers/${id(server)}/settings`, { source }, { signal, raw: true }), read),
  saveSettings: (server, settings, read, ifMatch) => tagged(rest.put(`/v1/connect/servers/${id(server)}/settings`, settings, { ifMatch, raw: true }), read),
  settingsHistory: async (server, query, read, signal) => read(await rest.get(`/v1/connect/servers/${id(server)}/settings/history`, query, { signal, raw: true })),
  extensions: (server, signal) => whole(`/v1/connect/servers/${id(server)}/extensions`, signal),
  members: (server, signal) => whole(`/v1/connect/servers/${id(server)}/members`, signal),
  setMember: (server, user, grant) => rest.put(`/v1/connect/servers/${id(server)}/members/${id(user)}`, grant),
  removeMember: (server, user) => rest.delete(`/v1/connect/servers/${id(server)}/members/${id(user)}`),
  invites: (server, signal) => whole(`/v1/connect/servers/${id(server)}/invites`, signal),
  invite: (server, offer) => rest.post(`/v1/connect/servers/${id(server)}/invites`, offer),
  revokeInvite: (server, invite) => rest.delete(`/v1/connect/servers/${id(server)}/invites/${id(invite)}`),
  policy: (server, signal) => rest.get(`/v1/connect/servers/${id(server)}/access-policy`, {}, { signal }),
  setPolicy: (server, policy) => rest.patch(`/v1/connect/servers/${id(server)}/access-policy`, policy),
  register: (server, extension) => rest.put(`/v1/connect/servers/${id(server)}/extensions/${id(extension)}`, {}),
  gateways: (server, signal) => rest.get(`/v1/connect/servers/${id(server)}/gateways`, {}, { signal }),
  acting: (signal) => whole("/v1/connect/sessions", signal),
};

export const offers = {
  list: (signal) => whole("/v1/connect/server-invites", signal),
  accept: (invite) => rest.post(`/v1/connect/server-invites/${id(invite)}/accept`),
  decline: (invite) => rest.post(`/v1/connect/server-invites/${id(invite)}/decline`),
};

export const publications = {
  read: (kind, target, signal) => tagged(rest.get(`/v1/connect/publications/${kind}/${id(target)}`, {}, { signal, raw: true })),
  publish: (kind, target, publication, ifMatch) =>
    tagged(rest.put(`/v1/connect/publications/${kind}/${id(target)}`, publication, { ifMatch, raw: true })),
  withdraw: (kind, target) => rest.delete(`/v1/connect/publications/${kind}/${id(target)}`),
};

export const extensions = {
  list: (query, signal) => rest.get("/v1/connect/extensions", query, { signal }),
  all: (signal) => whole("/v1/connect/extensions", signal),
  create: (extension) => rest.post("/v1/connect/extensions", extension),
  change: (extension, changes) => rest.put(`/v1/connect/extensions/${id(extension)}`, changes),
};

export const services = {
  list: (query, signal) => rest.get("/v1/services", query, { signal }),
  create: (service) => rest.post("/v1/services", service),
  migrate: (service, extensionId) => rest.post(`/v1/services/${id(service)}/migrate-extension`, { extensionId }),
  remove: (service) => rest.delete(`/v1/services/${id(service)}`),
};

export const networks = {
  list: (signal) => rest.get("/v1/connect/networks", {}, { signal }),
  create: (name) => rest.post("/v1/connect/networks", { name }),
  read: (network, signal) => tagged(rest.get(`/v1/connect/networks/${id(network)}`, {}, { signal, raw: true })),
  change: (network, changes, ifMatch) => tagged(rest.patch(`/v1/connect/networks/${id(network)}`, changes, { ifMatch, raw: true })),
  remove: (network) => rest.delete(`/v1/connect/networks/${id(network)}`),
  domains: (network, signal) => rest.get(`/v1/connect/networks/${id(network)}/domains`, {}, { signal }),
  addDomain: (network, domain) => rest.post(`/v1/connect/networks/${id(network)}/domains`, { domain }),
  verifyDomain: (network, domain) => rest.post(`/v1/connect/networks/${id(network)}/domains/${id(domain)}/verify`),
  publicPage: (slug) => `/v1/public/connect/slugs/${id(slug)}`,
  joinToken: (network) => rest.post(`/v1/connect/networks/${id(network)}/join-token`),
  hosts: (signal) => rest.get("/v1/connect/hosts", {}, { signal }),
  dns: (network, signal) => tagged(rest.get(`/v1/connect/networks/${id(network)}/dns/cloudflare`, {}, { signal, raw: true })),
  setDns: async (network, provider, ifMatch) => {
    const { value: config, etag } = await tagged(rest.put(`/v1/connect/networks/${id(network)}/dns/cloudflare`, provider, { ifMatch, raw: true }));
    return { value: { config }, etag };
  },
  removeDns: (network) => rest.delete(`/v1/connect/networks/${id(network)}/dns/cloudflare`),
  discord: (network, signal) => tagged(rest.get(`/v1/connect/networks/${id(network)}/discord`, {}, { signal, raw: true })),
  setDiscord: (network, settings, ifMatch) => tagged(rest.put(`/v1/connect/networks/${id(network)}/discord`, settings, { ifMatch, raw: true })),
  removeDiscord: (network) => rest.delete(`/v1/connect/networks/${id(network)}/discord`),
};

export const publicServers = {
  list: (query, signal) => rest.get("/v1/public/servers", query, { signal }),
  saved: (signal) => rest.get("/v1/profile/public-servers/saved", {}, { signal }),
  save: (serverId) => rest.post("/v1/profile/public-servers/saved", { serverId }),
  saveAddress: (address) => rest.post("/v1/profile/public-servers/saved", { address }),
  drop: (serverId) => rest.delete(`/v1/profile/public-servers/saved/${id(serverId)}`),
  favor: (serverId, favorite) => rest.patch(`/v1/profile/public-servers/saved/${id(serverId)}`, { favorite }),
  order: (serverIds) => rest.put("/v1/profile/public-servers/saved/order", { serverIds }),
};

export const capes = {
  mine: (query, signal) => rest.get("/v1/profile/capes", query, { signal }),
  catalog: (query, signal) => rest.get("/v1/public/capes", query, { signal }),
  create: (cape) => rest.post("/v1/profile/capes", cape),
  change: (cape, changes) => rest.patch(`/v1/profile/capes/${id(cape)}`, changes),
  submit: (cape) => rest.post(`/v1/profile/capes/${id(cape)}/submit`),
  withdraw: (cape) => rest.post(`/v1/profile/capes/${id(cape)}/withdraw`),
  remove: (cape) => rest.delete(`/v1/profile/capes/${id(cape)}`),
  selection: (signal) => rest.get("/v1/profile/capes/selection", {}, { signal }),
  wear: (cape) => rest.put("/v1/profile/capes/selection", cape ? { source: "native", capeId: cape } : { source: null, capeId: null }),
  terms: (signal) => rest.get("/v1/profile/capes/upload-terms", {}, { signal }),
  accept: (revision) => rest.post("/v1/profile/capes/upload-terms/accept", { revision }),
  waiting: (query, signal) => rest.get("/v1/admin/capes", query, { signal }),
  erase: (cape) => rest.delete(`/v1/admin/capes/${id(cape)}`),
  judge: (cape, judgement) => rest.patch(`/v1/admin/capes/${id(cape)}`, judgement),
};

export const totems = {
  carried: (signal) => rest.get("/v1/profile/personal-totem", {}, { signal }),
  history: (query, signal) => rest.get("/v1/profile/personal-totem/history", query, { signal }),
  gallery: (query, signal) => rest.get("/v1/profile/personal-totem/gallery", query, { signal }),
  model: (totem, signal) => rest.get(`/v1/profile/personal-totem/model/${id(totem)}`, {}, { signal }),
  carry: (totem) => rest.post("/v1/profile/personal-totem", { itemModelId: totem }),
  upload: (totem) => rest.post("/v1/profile/personal-totem", totem),
};

export const shop = {
  catalog: (signal) => rest.get("/v1/shop/catalog", {}, { signal }),
  purchases: (query, signal) => rest.get("/v1/shop/purchases", query, { signal }),
  checkout: (order) => rest.post("/v1/shop/checkout", order),
  cancel: (checkout) => rest.delete(`/v1/shop/checkout/${id(checkout)}`),
  allPurchases: (query, signal) => rest.get("/v1/admin/shop/purchases", query, { signal }),
  markPaid: (purchase, note) => rest.post(`/v1/admin/shop/purchases/${id(purchase)}/mark-paid`, note ? { note } : {}),
  refund: (purchase) => rest.post(`/v1/admin/shop/purchases/${id(purchase)}/refund`),
  products: (query, signal) => rest.get("/v1/admin/shop/products", query, { signal }),
  createProduct: (product) => rest.post("/v1/admin/shop/products", product),
  changeProduct: (product, changes) => rest.patch(`/v1/admin/shop/products/${id(product)}`, changes),
};

export const versions = {
  releases: (query, signal) => rest.get("/v1/versions/releases", query, { signal }),
  change: (release, changes) => rest.patch(`/v1/versions/releases/${id(release)}`, changes),
  remove: (release) => rest.delete(`/v1/versions/releases/${id(release)}`),
  channels: (signal) => rest.get("/v1/versions/channels/active", {}, { signal }),
  counts: (releaseId, signal) => rest.get("/v1/versions/events", { releaseId, limit: 5000 }, { signal }),
  activate: (activation) => rest.post("/v1/versions/channels/active", activation),
};

export const news = {
  list: (query, signal) => rest.get("/v1/news", query, { signal }),
  feed: (query, signal) => rest.get("/v1/news/feed", query, { signal }),
  read: (article, signal) => rest.get(`/v1/news/${id(article)}`, {}, { signal }),
  write: (article) => rest.post("/v1/news", article),
  change: (article, changes) => rest.patch(`/v1/news/${id(article)}`, changes),
  follows: (signal) => rest.get("/v1/news/follows", {}, { signal }),
  follow: (items) => rest.put("/v1/news/follows", { items }),
  vote: (article, optionIds) => rest.post(`/v1/news/${id(article)}/poll/vote`, { optionIds }),
};

export const launcher = {
  reports: (query, signal) => rest.get("/v1/admin/launcher/performance-reports", query, { signal }),
  hosts: (signal) => tagged(rest.get("/v1/public/launcher/network-guard-allowlist", {}, { signal, raw: true })),
  setHosts: (hosts, ifMatch) => tagged(rest.put("/v1/admin/launcher/network-guard-allowlist", { hosts }, { ifMatch, raw: true })),
};

export const voice = {
  regions: (signal) => rest.get("/v1/social/voice/regions", {}, { signal }),
  nodes: (query, signal) => rest.get("/v1/social/voice/nodes", query, { signal }),
};

export const shares = {
  list: (query, signal) => rest.get("/v1/profile/shares", query, { signal }),
  all: (signal) => whole("/v1/profile/shares", signal),
  create: (share) => rest.post("/v1/profile/shares", share),
  end: (code) => rest.delete(`/v1/profile/shares/${id(code)}`),
};

export const admin = {
  users: (query, signal) => rest.get("/v1/admin/users", query, { signal }),
  user: (user, signal) => rest.get(`/v1/admin/users/${id(user)}`, {}, { signal }),
  addRole: (user, role) => rest.put(`/v1/admin/users/${id(user)}/roles/${id(role)}`, {}),
  removeRole: (user, role) => rest.delete(`/v1/admin/users/${id(user)}/roles/${id(role)}`),
  rights: (user, signal) => rest.get(`/v1/admin/users/${id(user)}/rights`, {}, { signal }),
  permissions: (user, signal) => rest.get(`/v1/admin/users/${id(user)}/permissions`, {}, { signal }),
  roles: (signal) => rest.get("/v1/admin/roles", {}, { signal }),
  catalog: (signal) => rest.get("/v1/admin/permissions", {}, { signal }),
  grant: (user, grant) => rest.post(`/v1/admin/users/${id(user)}/permissions`, grant),
  revoke: (user, node) => rest.delete(`/v1/admin/users/${id(user)}/permissions/${id(node)}`),
  revokeTokens: (user) => rest.post(`/v1/admin/users/${id(user)}/revoke-tokens`),
  erase: (user) => rest.delete(`/v1/admin/users/${id(user)}`),
  notes: (user, query, signal) => rest.get(`/v1/admin/users/${id(user)}/notes`, query, { signal }),
  addNote: (user, text) => rest.post(`/v1/admin/users/${id(user)}/notes`, { text }),
  changeNote: (user, note, text) => rest.patch(`/v1/admin/users/${id(user)}/notes/${id(note)}`, { text }),
  removeNote: (user, note) => rest.delete(`/v1/admin/users/${id(user)}/notes/${id(note)}`),
  metrics: (signal) => rest.get("/v1/admin/metrics/history", {}, { signal }),
  actors: (query, signal) => rest.get("/v1/admin/actors", query, { signal }),
  actor: (kind, actor, signal) => rest.get(`/v1/admin/actors/${id(kind)}/${id(actor)}`, {}, { signal }),
  audit: (query, signal) => rest.get("/v1/admin/audit", query, { signal }),
  reports: (query, signal) => rest.get("/v1/admin/reports", query, { signal }),
  settle: (report, verdict) => rest.patch(`/v1/admin/reports/${id(report)}`, verdict),
  servers: (query, signal) => rest.get("/v1/admin/connect/servers", query, { signal }),
  publications: (query, signal) => rest.get("/v1/admin/connect/publications", query, { signal }),
  gateways: (query, signal) => rest.get("/v1/admin/connect/gateways", query, { signal }),
  changeGateway: (gateway, changes) => rest.patch(`/v1/admin/connect/gateways/${id(gateway)}`, changes),
  gatewayRoutes: (query, signal) => rest.get("/v1/admin/connect/gateway-routes", query, { signal }),
  changePublication: (publication, changes) => rest.patch(`/v1/admin/connect/publications/${id(publication)}`, changes),
};
