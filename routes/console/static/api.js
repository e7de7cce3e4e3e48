// Every request that the console makes, by name. Whoever looks for what a page asks of the service finds it here.
import { partyline } from "./session.js";

const { rest } = partyline;
const id = encodeURIComponent;

export const issuers = () => rest.get("/v1/public/issuers", {}, { anonymous: true });
export const setUp = (code, name) => rest.post("/v1/setup", { code, name }, { anonymous: true, credentials: "same-origin" });
export const health = () => rest.get("/health", {}, { anonymous: true });

export const sessions = {
  list: (query, signal) => rest.get("/v1/sessions", query, { signal }),
  end: (sessionId) => rest.delete(`/v1/sessions/${id(sessionId)}`),
  link: (userId) => rest.post("/v1/sign-in-links", userId ? { userId } : {}),
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
  bytes: (url) => rest.get(url, {}, { raw: true }),
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
  report: (targetId, reason) => rest.post("/v1/social/friends/reports", { targetId, reason }),
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
  selectors: (selectorIds) => rest.put("/v1/social/party/lobby/selectors", { selectorIds }),
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
