"""Users and what is theirs: profiles, rights, sessions, saved servers, friends, notes, reports, quests."""

from typing import Any

from tests.friends.play import BLOCKS, FRIENDS, REQUESTS
from tests.notifications.play import LIST as NOTIFICATIONS
from tests.notifications.play import READ
from tests.process.kept.stage import Stage
from tests.process.kept.writer import Deed, Stands, Writer
from tests.quests.play import LEVEL, QUESTS, REROLL
from tests.saved_servers.play import SAVED
from tests.sessions.play import LINKS, SESSIONS, Browser, code_of
from tests.support.world import Player
from tests.users.play import PROFILE, SHARES, one

MOST = 6
"""How many things of a sort a writer has; then one has to go."""


async def profiles(stage: Stage) -> Writer:
    """Settings, options of the game, shared profiles."""
    ann = await stage.player("Ann")
    writer = Writer("profiles", stage)
    for path in ("/v1/profile/settings", "/v1/profile/minecraft-options", SHARES):
        writer.page(ann, path)
    codes: list[str] = []

    @writer.deed
    def set_style() -> Deed:
        word = stage.word()
        return Deed(
            ann, "PATCH", "/v1/profile/settings", {"uiStyle": {"payload": {"word": word}}}, shows=(word,)
        )

    @writer.deed
    def set_options() -> Deed:
        word = stage.word()
        return Deed(ann, "PUT", "/v1/profile/minecraft-options", {"options": {"word": word}}, shows=(word,))

    @writer.deed
    def set_requests() -> Deed:
        allowed = writer.flip("requests", first=False)
        body = {"allowFriendRequests": allowed}
        shows = (f'"allowFriendRequests": {str(allowed).lower()}',)
        return Deed(ann, "PATCH", "/v1/profile/settings", body, shows=shows)

    @writer.deed
    def share() -> Deed | None:
        if len(codes) >= MOST:
            return None
        word = stage.word()

        def then(made: Any) -> None:
            codes.append(made["code"])
            writer.page(ann, f"/v1/public/profile-shares/{made['code']}")

        return Deed(ann, "POST", SHARES, {**PROFILE, "name": word}, shows=(word,), then=then)

    @writer.deed
    def unshare() -> Deed | None:
        if not codes:
            return None
        code = codes.pop()
        return Deed(ann, "DELETE", f"{SHARES}/{code}", hides=(f'"code": "{code}"',))

    return writer


def _held(node: str) -> str:
    """What stands in the list of a user's permissions; that a node exists at all is kept for ever."""
    return f'"negated": false, "node": "{node}"'


async def rights(stage: Stage) -> Writer:
    """Permissions, roles, tokens that end."""
    root, ann = await stage.super_admin(), await stage.player("Rita")
    writer = Writer("rights", stage)
    writer.page(root, f"{one(ann)}/permissions")
    writer.page(ann, "/v1/auth/verify")
    nodes: list[str] = []

    @writer.deed
    def grant() -> Deed | None:
        if len(nodes) >= MOST:
            return None
        node = f"perk:{stage.word()}"
        nodes.append(node)
        return Deed(root, "POST", f"{one(ann)}/permissions", {"node": node}, shows=(_held(node),))

    @writer.deed
    def take_away() -> Deed | None:
        if not nodes:
            return None
        node = nodes.pop(0)
        return Deed(root, "DELETE", f"{one(ann)}/permissions/{node}", hides=(_held(node),))

    @writer.deed
    def promote() -> Deed:
        return Deed(root, "PUT", f"{one(ann)}/roles/moderator", shows=('"capes:moderate"',), idle=True)

    @writer.deed
    def demote() -> Deed:
        return Deed(root, "DELETE", f"{one(ann)}/roles/moderator", hides=('"capes:moderate"',), idle=True)

    return writer


async def revocations(stage: Stage) -> Writer:
    """Tokens that end, and users who are erased."""
    root = await stage.super_admin()
    writer = Writer("revocations", stage)
    spare = await stage.players(*(f"Spare{number}" for number in range(60)))

    @writer.deed
    def revoke() -> Deed | None:
        if not spare:
            return None
        user = spare.pop()
        writer.page(user, "/v1/auth/verify")
        if len(writer.pages) > MOST:
            writer.pages.pop(next(iter(writer.pages)))
        choice = stage.rng.randrange(3)
        if choice == 0:
            return Deed(user, "POST", "/v1/auth/revoke", keyed=False, ends=True)
        if choice == 1:
            return Deed(root, "POST", f"{one(user)}/revoke-tokens")
        return Deed(root, "DELETE", one(user))

    return writer


async def sessions(stage: Stage) -> Writer:
    """Browsers that are signed in, and signed out."""
    root, ann = await stage.super_admin(), await stage.player("Sia")
    writer = Writer("sessions", stage, soft=frozenset({"lastUsedAt", "lastUsedAtMs", "current"}))
    writer.page(ann, SESSIONS)
    ids: list[str] = []

    async def enter() -> None:
        """A browser signs in before the kills begin."""
        browser = Browser(stage)  # type: ignore[arg-type]
        await browser.enter(code=code_of(await root.do("POST", LINKS, {"userId": ann.id}, status=201)))

    for _ in range(MOST):
        await enter()
    ids += [item["id"] for item in (await ann.get(SESSIONS))["items"]]

    @writer.deed
    def end() -> Deed | None:
        if not ids:
            return None
        id = ids.pop()
        return Deed(ann, "DELETE", f"{SESSIONS}/{id}", hides=(id,))

    @writer.deed
    def enter_by_token() -> Deed | None:
        if len(ids) >= MOST:
            return None
        known = set(ids)

        def then(_made: Any) -> None:
            writer.after_look = lambda: ids.extend(
                item["id"] for item in writer.json(ann, SESSIONS)["items"] if item["id"] not in known
            )

        return Deed(ann, "POST", SESSIONS, then=then, headers={"sec-fetch-site": "same-origin"}, keyed=False)

    return writer


async def saved_servers(stage: Stage) -> Writer:
    """Saved servers: added, put in order, made favourites, removed."""
    ann = await stage.player("Sam")
    writer = Writer("saved servers", stage)
    writer.page(ann, SAVED)
    writer.page(ann, f"/v1/users/{ann.id}/public-servers/favorites")
    ids: list[str] = []

    @writer.deed
    def save() -> Deed | None:
        if len(ids) >= MOST:
            return None
        address = f"{stage.word()}.example"
        then = lambda made: ids.append(made["id"])  # noqa: E731
        return Deed(ann, "POST", SAVED, {"address": address}, shows=(address,), then=then)

    @writer.deed
    def favour() -> Deed | None:
        if not ids:
            return None
        id = stage.rng.choice(ids)
        return Deed(ann, "PATCH", f"{SAVED}/{id}", {"favorite": writer.flip(id)})

    @writer.deed
    def reorder() -> Deed | None:
        order = stage.rng.sample(ids, len(ids))
        return Deed(ann, "PUT", f"{SAVED}/order", {"serverIds": order}, idle=True) if len(ids) > 1 else None

    @writer.deed
    def remove() -> Deed | None:
        if not ids:
            return None
        id = ids.pop(0)
        return Deed(ann, "DELETE", f"{SAVED}/{id}", hides=(id,))

    return writer


async def friends(stage: Stage) -> Writer:
    """Requests, friendships, notes about friends, blocks, and the notifications that these bring."""
    ann, *others = await stage.players("Fay", *(f"Pal{number}" for number in range(4)))
    soft = frozenset({"online", "lastSeenAt", "lastSeenAtMs", "presence"})
    writer = Writer("friends", stage, soft)
    for path in (FRIENDS, REQUESTS, BLOCKS):
        writer.page(ann, path)
    for other in others:
        writer.page(other, FRIENDS)
        writer.page(other, REQUESTS)
        writer.page(other, NOTIFICATIONS)
    by_id = {other.id: other for other in others}
    stands = Stands(stage.rng, by_id)

    @writer.deed
    def ask() -> Deed | None:
        if (id := stands.any("")) is None:
            return None
        word = stage.word()
        then = lambda made: stands.of.update({id: f"asked {made['id']}"})  # noqa: E731
        return Deed(ann, "POST", REQUESTS, {"targetId": id, "note": word}, shows=(word,), then=then)

    @writer.deed
    def answer() -> Deed | None:
        if (id := stands.any("asked")) is None:
            return None
        path = f"{REQUESTS}/{stands.of[id].split()[1]}"
        match stage.rng.randrange(4):
            case 0:
                return Deed(by_id[id], "POST", f"{path}/decline", then=stands.move(id, ""))
            case 1:
                return Deed(ann, "DELETE", path, then=stands.move(id, ""))
        return Deed(by_id[id], "POST", f"{path}/accept", then=stands.move(id, "friend"))

    @writer.deed
    def note() -> Deed | None:
        if (id := stands.any("friend")) is None:
            return None
        word = stage.word()
        body = {"note": word, "favorite": stage.rng.random() < 0.5}
        return Deed(ann, "PATCH", f"{FRIENDS}/{id}", body, shows=(word,))

    @writer.deed
    def part() -> Deed | None:
        if (id := stands.any("friend")) is None:
            return None
        return Deed(ann, "DELETE", f"{FRIENDS}/{id}", then=stands.move(id, ""))

    @writer.deed
    def read() -> Deed:
        return Deed(stage.rng.choice(others), "POST", READ, {"beforeMs": 2**53 - 1}, idle=True)

    _add_blocks(writer, ann, stands)
    return writer


def _add_blocks(writer: Writer, ann: Player, stands: Stands) -> None:
    @writer.deed
    def block() -> Deed | None:
        if (id := stands.any("friend") or stands.any("")) is None:
            return None
        body = {"targetId": id, "reason": writer.stage.word()}
        return Deed(ann, "POST", BLOCKS, body, then=stands.move(id, "blocked"))

    @writer.deed
    def unblock() -> Deed | None:
        if (id := stands.any("blocked")) is None:
            return None
        return Deed(ann, "DELETE", f"{BLOCKS}/{id}", then=stands.move(id, ""))


async def moderation(stage: Stage) -> Writer:
    """Notes of moderators, and reports."""
    mod, ann, ben = await stage.ranked("Mod", "moderator"), *(await stage.players("Mia", "Noa"))
    path, reports = f"{one(ann)}/notes", "/v1/admin/reports"
    writer = Writer("moderation", stage)
    writer.page(mod, path)
    writer.page(mod, reports)
    notes: list[str] = []
    open_reports: list[str] = []

    @writer.deed
    def note() -> Deed | None:
        if len(notes) >= MOST:
            return None
        word = stage.word()
        then = lambda made: notes.append(made["id"])  # noqa: E731
        return Deed(mod, "POST", path, {"text": word}, shows=(word,), then=then)

    @writer.deed
    def change() -> Deed | None:
        if not notes:
            return None
        word = stage.word()
        return Deed(mod, "PATCH", f"{path}/{stage.rng.choice(notes)}", {"text": word}, shows=(word,))

    @writer.deed
    def remove() -> Deed | None:
        if not notes:
            return None
        id = notes.pop(0)
        return Deed(mod, "DELETE", f"{path}/{id}", hides=(id,))

    @writer.deed
    def report() -> Deed | None:
        if open_reports:
            return None
        word = stage.word()
        body = {"targetId": ben.id, "reason": word}
        then = lambda made: open_reports.append(made["id"])  # noqa: E731
        return Deed(ann, "POST", "/v1/social/friends/reports", body, shows=(word,), then=then)

    @writer.deed
    def settle() -> Deed | None:
        if not open_reports:
            return None
        return Deed(mod, "PATCH", f"{reports}/{open_reports.pop()}", {"status": "actioned"})

    return writer


async def quests(stage: Stage) -> Writer:
    """Quests that are drawn and drawn anew, of one user after the other."""
    writer = Writer("quests", stage, soft=frozenset({"secondsLeft", "endsInMs", "remainingMs"}))
    spare = await stage.players(*(f"Quin{number}" for number in range(60)))

    @writer.deed
    def reroll() -> Deed | None:
        if not spare:
            return None
        ann = spare.pop()
        for path in (QUESTS, LEVEL):
            writer.page(ann, path)
        while len(writer.pages) > 2 * MOST:
            writer.pages.pop(next(iter(writer.pages)))
        return Deed(ann, "POST", REROLL, {})

    return writer


PEOPLE = (profiles, rights, revocations, sessions, saved_servers, friends, moderation, quests)
