"""An installation with something to show on each picture."""

import base64
import io
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageDraw

from scripts.console_budget.place import CHATS, Person, Place

SERVERS = "/v1/connect/servers"
CAPES = "/v1/profile/capes"
REPORTS = "/v1/social/friends/reports"
USERS = "/v1/admin/users"
SAVED = "/v1/profile/public-servers/saved"


@dataclass(frozen=True, slots=True)
class Furniture:
    """The people and the game server of the pictures.

    Args:
        root: a super-admin.
        cleo: a user about whom there are reports, notes and grants.
        server: the id of a game server of Ada's.
    """

    root: Person
    cleo: Person
    server: str


def furnish(place: Place) -> Furniture:
    """Make all that the pictures show; returns who looks at it."""
    root, cleo = place.root(), place.person("Cleo")
    _befriend(place, place.ada, place.ben)
    for address in ("play.example.org", "islands.example.org"):
        place.asked(place.ben, "POST", SAVED, {"address": address})
    _talk(place, cleo)
    for name, colours in (("Dawn", ("#f6bd60", "#f28482")), ("Deep sea", ("#1d3557", "#2a9d8f"))):
        _submit(place, cleo, name, colours)
    _report(place, root, cleo)
    place.asked(root, "POST", f"{USERS}/{cleo.id}/permissions", _QUOTA)
    place.asked(root, "PUT", f"{USERS}/{place.ben.id}/roles/moderator", {})
    place.asked(root, "PUT", f"{USERS}/{cleo.id}/roles/moderator", {})
    return Furniture(root, cleo, _run(place))


_QUOTA = {"node": "social:friends.max", "negated": False, "value": {"value": 500, "unit": "count"}}


def _befriend(place: Place, one: Person, other: Person) -> None:
    sent = place.asked(one, "POST", "/v1/social/friends/requests", {"targetId": other.id})
    place.asked(other, "POST", f"/v1/social/friends/requests/{sent['id']}/accept")


def _talk(place: Place, cleo: Person) -> None:
    ada, ben = place.ada, place.ben
    others = [one.id for one in (ben, cleo)]
    group = {"kind": "group", "title": "Island builders", "participantIds": others}
    builders = place.asked(ada, "POST", CHATS, group)["id"]
    place.asked(
        cleo, "POST", f"{CHATS}/{builders}/messages", {"content": "Who has the key to the lighthouse?"}
    )
    place.say(ada, "The new map is up, did you see the harbour?")
    place.say(ben, "Not yet! Is it on `play.example.org`?")
    place.say(ada, "Yes. **Bring a boat**, and read https://example.org/islands first.")
    options = [{"label": label} for label in ("Tonight", "Tomorrow", "At the weekend")]
    poll = {"question": "When do we sail?", "options": options}
    asked = place.asked(ben, "POST", f"{CHATS}/{place.room}/messages", {"content": "", "poll": poll})
    tonight = {"optionIds": [asked["poll"]["options"][0]["id"]]}
    for voter in (ada, ben):
        place.asked(voter, "POST", f"{CHATS}/{place.room}/messages/{asked['id']}/poll/vote", tonight)
    place.say(ben, "Tonight it is. I'll invite the others.")


def _submit(place: Place, owner: Person, name: str, colours: tuple[str, str]) -> None:
    terms = place.asked(owner, "GET", f"{CAPES}/upload-terms")
    place.asked(owner, "POST", f"{CAPES}/upload-terms/accept", {"revision": terms["revision"]})
    body = {"name": name, "texture": {"dataUrl": _texture(*colours)}}
    made = place.asked(owner, "POST", CAPES, body)
    place.asked(owner, "POST", f"{CAPES}/{made['id']}/submit")


def _texture(ground: str, mark: str) -> str:
    """A cape of two colours, as a data address."""
    picture = Image.new("RGBA", (64, 32), ground)
    draw = ImageDraw.Draw(picture)
    for left in (1, 12):  # front and back
        draw.polygon([(left + 5, 3), (left + 9, 9), (left + 5, 15), (left + 1, 9)], fill=mark)
    held = io.BytesIO()
    picture.save(held, "png")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


def _report(place: Place, root: Person, cleo: Person) -> None:
    for reporter, reason in (
        (place.ada, "Sells a map that is not theirs"),
        (place.ben, "Writes the same all day"),
    ):
        place.asked(reporter, "POST", REPORTS, {"targetId": cleo.id, "reason": reason})
    before = place.asked(place.ben, "POST", REPORTS, {"targetId": cleo.id, "reason": "Shouts at newcomers"})
    settled = {"status": "actioned", "reason": "Warned, and apologised since"}
    place.asked(root, "PATCH", f"/v1/admin/reports/{before['id']}", settled)
    place.asked(cleo, "POST", REPORTS, {"targetId": place.ben.id, "reason": "Will not answer"})
    text = "Makes the best capes here; is short with people late at night."
    place.asked(root, "POST", f"{USERS}/{cleo.id}/notes", {"text": text})


def _run(place: Place) -> str:
    """Make a game server of Ada's with three commands that have ended; returns its id."""
    made: dict[str, Any] = place.asked(
        None, "POST", f"{SERVERS}/register", {"serverType": "paper", "serverName": "Survival"}
    )
    server = str(made["serverId"])
    place.asked(place.ada, "POST", f"{SERVERS}/claim", {"claimKey": made["claimKey"]})
    headers = {"authorization": f"Bearer {made['serverSecret']}", "x-server-id": server}
    for action, payload, end in (
        (
            "broadcast",
            {"text": "The harbour opens at eight."},
            {"status": "success", "result": {"heard": 12}},
        ),
        ("restart", {}, {"status": "failed", "error": "Twelve players are on"}),
        ("count", {"to": 3}, {"status": "success", "result": {"counted": 3}}),
    ):
        body = {"action": action, "payload": payload}
        sent = place.asked(place.ada, "POST", f"{SERVERS}/{server}/commands", body)["command"]["id"]
        place.http.get(f"{SERVERS}/{server}/commands", params={"status": "pending"}, headers=headers)
        path = f"{SERVERS}/{server}/commands/{sent}/ack"
        place.http.post(path, json=end, headers=headers).raise_for_status()
    return server
