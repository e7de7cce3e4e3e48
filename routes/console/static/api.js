// Every request that the console makes, by name. Whoever looks for what a page asks of the service finds it here.
import { partyline } from "./session.js";

const { rest } = partyline;
const id = encodeURIComponent;

export const issuers = () => rest.get("/v1/public/issuers", {}, { anonymous: true });
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
  open: (participantIds, kind, title) => rest.post("/v1/social/chat/conversations", { kind, participantIds, ...(title && { title }) }),
  messages: (conversation, query, signal) => rest.get(`/v1/social/chat/conversations/${id(conversation)}/messages`, query, { signal }),
  edit: (conversation, message, content, mentions) =>
    rest.patch(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}`, { content, mentions }),
  remove: (conversation, message) => rest.delete(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}`),
  vote: (conversation, message, optionIds) =>
    rest.post(`/v1/social/chat/conversations/${id(conversation)}/messages/${id(message)}/poll/vote`, { optionIds }),
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
  unblock: (target) => rest.delete(`/v1/social/friends/blocks/${id(target)}`),
};

export const party = {
  create: () => rest.post("/v1/social/party"),
  leave: () => rest.post("/v1/social/party/leave"),
  disband: () => rest.delete("/v1/social/party"),
  invite: (targetId) => rest.post("/v1/social/party/invites", { targetId }),
  accept: (party) => rest.post(`/v1/social/party/invites/${id(party)}/accept`),
  decline: (party) => rest.post(`/v1/social/party/invites/${id(party)}/decline`),
  select: (selection) => rest.put("/v1/social/party/lobby/selection", selection),
  setReady: (ready) => rest.put("/v1/social/party/lobby/ready", { ready, profilePrepared: ready }),
};

export const notifications = {
  list: (query, signal) => rest.get("/v1/notifications", query, { signal }),
  read: (ids) => rest.post("/v1/notifications/read", { ids }),
};

export const profile = {
  own: (signal) => rest.get("/v1/profile/self", {}, { signal }),
  settings: (signal) => rest.get("/v1/profile/settings", {}, { signal }),
  change: (changes) => rest.patch("/v1/profile/settings", changes),
};

export const servers = {
  list: (signal) => rest.get("/v1/connect/servers", {}, { signal }),
  claim: (claimKey) => rest.post("/v1/connect/servers/claim", { claimKey }),
  change: (server, changes) => rest.patch(`/v1/connect/servers/${id(server)}`, changes),
  remove: (server) => rest.delete(`/v1/connect/servers/${id(server)}`),
  rotateSecret: (server) => rest.post(`/v1/connect/servers/${id(server)}/secret/rotate`),
  commands: (server, query, signal) => rest.get(`/v1/connect/servers/${id(server)}/commands`, query, { signal }),
  send: (server, command) => rest.post(`/v1/connect/servers/${id(server)}/commands`, command),
  cancel: (server, command) => rest.delete(`/v1/connect/servers/${id(server)}/commands/${id(command)}`),
  settings: (server, source, signal) => rest.get(`/v1/connect/servers/${id(server)}/settings`, { source }, { signal, raw: true }),
  saveSettings: (server, settings, ifMatch) => rest.put(`/v1/connect/servers/${id(server)}/settings`, settings, { ifMatch }),
  settingsHistory: (server, query, signal) => rest.get(`/v1/connect/servers/${id(server)}/settings/history`, query, { signal }),
  extensions: (server, signal) => rest.get(`/v1/connect/servers/${id(server)}/extensions`, {}, { signal }),
  members: (server, signal) => rest.get(`/v1/connect/servers/${id(server)}/members`, {}, { signal }),
  setMember: (server, user, role) => rest.put(`/v1/connect/servers/${id(server)}/members/${id(user)}`, { role }),
  removeMember: (server, user) => rest.delete(`/v1/connect/servers/${id(server)}/members/${id(user)}`),
  invites: (server, signal) => rest.get(`/v1/connect/servers/${id(server)}/invites`, {}, { signal }),
  invite: (server, inviteeUserId, role) => rest.post(`/v1/connect/servers/${id(server)}/invites`, { inviteeUserId, role }),
  revokeInvite: (server, invite) => rest.delete(`/v1/connect/servers/${id(server)}/invites/${id(invite)}`),
  policy: (server, signal) => rest.get(`/v1/connect/servers/${id(server)}/access-policy`, {}, { signal }),
  setPolicy: (server, policy) => rest.patch(`/v1/connect/servers/${id(server)}/access-policy`, policy),
  publication: (server, signal) => rest.get(`/v1/connect/publications/server/${id(server)}`, {}, { signal }),
  publish: (server, publication) => rest.put(`/v1/connect/publications/server/${id(server)}`, publication),
  withdraw: (server) => rest.delete(`/v1/connect/publications/server/${id(server)}`),
};

export const networks = {
  list: (signal) => rest.get("/v1/connect/networks", {}, { signal }),
  create: (name) => rest.post("/v1/connect/networks", { name }),
  change: (network, changes) => rest.patch(`/v1/connect/networks/${id(network)}`, changes),
  domains: (network, signal) => rest.get(`/v1/connect/networks/${id(network)}/domains`, {}, { signal }),
  addDomain: (network, domain) => rest.post(`/v1/connect/networks/${id(network)}/domains`, { domain }),
  verifyDomain: (network, domain) => rest.post(`/v1/connect/networks/${id(network)}/domains/${id(domain)}/verify`),
  joinToken: (network) => rest.post(`/v1/connect/networks/${id(network)}/join-token`),
};

export const publicServers = {
  list: (query, signal) => rest.get("/v1/public/servers", query, { signal }),
  saved: (signal) => rest.get("/v1/profile/public-servers/saved", {}, { signal }),
  save: (serverId) => rest.post("/v1/profile/public-servers/saved", { serverId }),
  drop: (serverId) => rest.delete(`/v1/profile/public-servers/saved/${id(serverId)}`),
  favor: (serverId, favorite) => rest.patch(`/v1/profile/public-servers/saved/${id(serverId)}`, { favorite }),
  order: (serverIds) => rest.put("/v1/profile/public-servers/saved/order", { serverIds }),
};

export const capes = {
  mine: (query, signal) => rest.get("/v1/profile/capes", query, { signal }),
  catalog: (query, signal) => rest.get("/v1/public/capes", query, { signal }),
  create: (cape) => rest.post("/v1/profile/capes", cape),
  submit: (cape) => rest.post(`/v1/profile/capes/${id(cape)}/submit`),
  withdraw: (cape) => rest.post(`/v1/profile/capes/${id(cape)}/withdraw`),
  remove: (cape) => rest.delete(`/v1/profile/capes/${id(cape)}`),
  selection: (signal) => rest.get("/v1/profile/capes/selection", {}, { signal }),
  wear: (cape) => rest.put("/v1/profile/capes/selection", cape ? { source: "native", capeId: cape } : { source: null, capeId: null }),
  terms: (signal) => rest.get("/v1/profile/capes/upload-terms", {}, { signal }),
  accept: (revision) => rest.post("/v1/profile/capes/upload-terms/accept", { revision }),
  waiting: (query, signal) => rest.get("/v1/admin/capes", query, { signal }),
  judge: (cape, judgement) => rest.patch(`/v1/admin/capes/${id(cape)}`, judgement),
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
  removeNote: (user, note) => rest.delete(`/v1/admin/users/${id(user)}/notes/${id(note)}`),
  metrics: (signal) => rest.get("/v1/admin/metrics/history", {}, { signal }),
  actors: (query, signal) => rest.get("/v1/admin/actors", query, { signal }),
  actor: (kind, actor, signal) => rest.get(`/v1/admin/actors/${id(kind)}/${id(actor)}`, {}, { signal }),
  audit: (query, signal) => rest.get("/v1/admin/audit", query, { signal }),
  reports: (query, signal) => rest.get("/v1/admin/reports", query, { signal }),
  settle: (report, status) => rest.patch(`/v1/admin/reports/${id(report)}`, { status }),
  servers: (query, signal) => rest.get("/v1/admin/connect/servers", query, { signal }),
  publications: (query, signal) => rest.get("/v1/admin/connect/publications", query, { signal }),
  changePublication: (publication, changes) => rest.patch(`/v1/admin/connect/publications/${id(publication)}`, changes),
};
