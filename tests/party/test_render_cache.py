"""Parties as JSON: the same bytes as made singly, and made once for all who see the same."""

from collections.abc import Collection

from msgspec.structs import replace

from actors.friends.public import Appearance, Status
from actors.party import frames
from actors.party.render_cache import KEPT, RenderCache
from tests.party.play import Play, uid

NOW_MS = 1_800_000_000_000
ONLINE, OFFLINE = Status("ONLINE", "then"), Status("OFFLINE", "then")


class World:
    """Who is online, who hides from whom, and how often that was asked."""

    def __init__(self) -> None:
        self.online: set[str] = set()
        self.hiding: dict[str, frozenset[str]] = {}
        self.changes = 0
        self.asked = 0
        self.render_cache = RenderCache(self.seen, self.hidden_among, self.moved)

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        return self.hiding.get(viewer_id, frozenset()).intersection(ids)

    def moved(self) -> int:
        return self.changes

    def seen(self, user_id: str, viewer_id: str) -> Appearance:
        self.asked += 1
        shown = user_id in self.online and user_id not in self.hiding.get(viewer_id, ())
        return Appearance(shown, ONLINE if shown else OFFLINE, None, None)

    def check(self, play: Play, *viewers: str) -> int:
        """Each viewer is shown what is true; returns how often somebody was looked at for it."""
        before = self.asked
        shown = [self.render_cache.snapshot(play.state, (), uid(name), now_ms=NOW_MS) for name in viewers]
        asked = self.asked - before
        for name, one in zip(viewers, shown, strict=True):
            assert one == frames.encoded(self.seen, play.state, (), uid(name), now_ms=NOW_MS)
        return asked


def test_all_who_see_the_same_cost_one_encoding() -> None:
    world, play = World(), Play("ann", "bob", "cid")
    assert world.check(play, "ann", "bob", "cid") == 3
    assert world.check(play, "ann") == 0


def test_who_hides_is_hidden_from_that_viewer_alone() -> None:
    world, play = World(), Play("ann", "bob", "cid")
    world.online = {uid("ann"), uid("bob")}
    world.hiding = {uid("cid"): frozenset({uid("bob"), uid("dan")})}
    assert world.check(play, "ann", "bob", "cid") == 6


def test_presence_makes_everything_anew() -> None:
    world, play = World(), Play("ann", "bob")
    world.check(play, "ann")
    world.online.add(uid("bob"))
    world.changes += 1
    assert world.check(play, "ann", "bob") == 2


def test_memory_is_bounded() -> None:
    world = World()
    for number in range(2 * KEPT):
        party = replace(Play("ann").state, id=f"party {number}")
        world.render_cache.snapshot(party, (), uid("ann"), now_ms=NOW_MS)
    assert len(world.render_cache._kept) == KEPT


def test_no_party_is_null() -> None:
    assert (
        World().render_cache.snapshot(None, (), uid("ann"), now_ms=NOW_MS) == b'{"party":null,"invites":[]}'
    )
