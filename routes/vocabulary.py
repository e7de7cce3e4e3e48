"""What names on the wire mean in every domain, for the descriptions of the API.

A field whose struct says what it means (`Args:`) is described by that; another by its name, as it stands here. So a new
field gets a line at its struct, or one here if several structs share it and it means the same in all of them. `userId`
and the like need neither: they are the user's id.
"""

from collections.abc import Mapping

_IDS = {
    "actorId": "the user who acts.",
    "artifactId": "the file's id.",
    "channelId": "the voice channel's id.",
    "fileId": "the file's id at its source.",
    "friendId": "the friend's user id.",
    "id": "what identifies it.",
    "inviteeUserId": "the user who is invited.",
    "inviterId": "the user who invites.",
    "itemModelId": "the id of the totem's model.",
    "keyId": "the id of the key.",
    "newsId": "the article's id.",
    "nodeId": "the voice node's id.",
    "ownerId": "the user who owns it.",
    "playerId": "the player's user id.",
    "profileId": "the id of the launcher profile.",
    "projectId": "the project's id at its source.",
    "recipientId": "the user who receives it.",
    "requestId": "the id of the request, as in `X-Request-Id`.",
    "scopeId": "the program's id, unique in its kind.",
    "senderId": "the user who sent it.",
    "targetId": "the id of who or what is meant.",
    "userIds": "ids of users.",
}

_TIMES = {
    "activatedAt": "when it was activated.",
    "atMs": "when, in epoch milliseconds.",
    "createdAt": "when it was made.",
    "editedAt": "when it was last edited; null if it never was.",
    "expiresAt": "until when it is valid.",
    "joinedAt": "since when they are in it.",
    "lastHeartbeatAt": "when it last said that it is there.",
    "lastReadAtMs": "up to when the user has read, in epoch milliseconds.",
    "lastSeenAt": "when they were last seen; null if that does not show.",
    "registeredAt": "when it was first registered.",
    "serverTimeMs": "the service's time, in epoch milliseconds.",
    "startedAt": "when it began.",
    "updatedAt": "when it was last changed.",
}

_PAGES = {
    "counts": "how many there are.",
    "entries": "the page.",
    "hasMore": "whether there are more after these.",
    "items": "the entries.",
    "limit": "how many a page has at most.",
    "nextCursor": "what to send as `cursor` for the page after this one; null on the last.",
    "offset": "how many come before the page.",
    "total": "how many there are in all.",
}

_FRAMES = {
    "channel": "the channel's name, such as `friends` or `conversation:ID`.",
    "epoch": "which count of events `offset` is in: another epoch begins anew.",
    "errors": "each field that is wrong.",
    "event": "what has happened.",
    "meta": "what a program may want to know beside it.",
    "op": "which command this is.",
    "type": "which frame this is.",
    "unread": "how many are unread.",
}

_PEOPLE = {
    "allowFriendRequests": "whether others may ask to become friends.",
    "author": "who has made it.",
    "direction": "whether the viewer has received or sent it.",
    "friends": "the user's friends.",
    "homeRegion": "the region that was reported as theirs; null if none was.",
    "incoming": "those that the user has received.",
    "online": "whether they show as online to the viewer.",
    "outgoing": "those that the user has sent.",
    "participants": "who is in it.",
    "privacy": "who sees what of the user.",
    "senderName": "what the sender is called now.",
    "tier": "the rank of their support; null for none.",
    "uiStyle": "how the user's launcher looks.",
}

_SERVERS = {
    "backendHost": "where the gateway forwards players: a name or an address.",
    "backendPort": "the port there.",
    "command": "the command as it is now.",
    "domain": "the domain.",
    "favorite": "whether it is a favourite.",
    "joinToken": "what a server joins the network with.",
    "motd": "the text shown in lists of servers.",
    "playerCapacity": "how many players may be on it at once.",
    "playerCount": "how many players are on it now.",
    "proxyProtocol": "whether the backend is told each player's address (PROXY protocol).",
    "publicProfileShareCode": "the launcher profile that its public page offers, by the code under which it is shared.",
    "routeHost": "the host that players connect to.",
    "schemaVersion": "the version of the schema that the settings were checked by; empty without one.",
    "serverName": "the server's name.",
    "serverType": "what kind of server it is, as it says itself.",
    "settings": "the settings as they are now.",
    "targetKind": "what kind of thing the target is.",
    "targetType": "`server` or `network`.",
    "temporaryProfile": "whether the launcher profile is only for this game.",
    "ticket": "the ticket.",
}

_SHOP_AND_RELEASES = {
    "arch": "the processor that the file is for.",
    "contentType": "the media type of the file.",
    "fileName": "the file's name.",
    "grants": "the rights that are given with it.",
    "imageUrl": "a picture's address; null without one.",
    "platform": "the operating system that it is for.",
    "price": "what one piece costs.",
    "purchase": "the purchase as it is now.",
    "quantity": "how many pieces.",
    "received": "always true.",
    "rollout": "which part of the clients is offered the release.",
    "scope": "what it belongs to.",
    "scopeType": "the kind of program.",
    "sizeBytes": "the file's size.",
    "updatePolicy": "how urgent the update is.",
}

_OTHERS = {
    "catalogSlug": "the catalog's name in addresses.",
    "code": "the code under which it is shared.",
    "digest": "the digest of all assets: other assets, another address.",
    "displayName": "the name to show.",
    "file": "the file's name.",
    "game_versions": "a JSON array of versions of the game.",
    "identifier": "a user's uuid, or their name.",
    "include_changelog": "whether versions come with their changes.",
    "issuer": "one of `/v1/public/issuers`.",
    "kind": "the kind of actor.",
    "name": "the name.",
    "node": "the permission.",
    "question": "what is asked.",
    "rating": "whom the model is fit for.",
    "role": "the role.",
    "selfDeaf": "whether they hear nobody.",
    "selfMute": "whether they have muted themselves.",
    "slug": "its name in addresses.",
    "tags": "words it is found by.",
    "texture": "the picture, as a PNG.",
}

WORDS: Mapping[str, str] = {
    **_IDS,
    **_TIMES,
    **_PAGES,
    **_FRAMES,
    **_PEOPLE,
    **_SERVERS,
    **_SHOP_AND_RELEASES,
    **_OTHERS,
}
"""{name on the wire: what it means}"""
