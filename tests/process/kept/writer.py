"""Somebody who does one acknowledged write after the other in one domain, and knows what has to be there then.

After each acknowledgement a writer looks at all pages that show what is theirs, and nobody else changes. After a kill
these show the same, but for the one write that was under way, which has happened as a whole or not at all.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from random import Random
from typing import Any

import httpx2
import trio

from tests.process.kept.stage import RETRY_SECONDS, Stage, plain
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import Player

SOFT = frozenset({"requestId", "lastSeenAt", "lastSeenAtMs", "online", "timestamp"})
"""Fields that are promised to nobody."""


HEALING_SECONDS = 20
"""Ten times as long as memory takes to follow the rows once PostgreSQL is back."""


@dataclass(frozen=True)
class Deed:
    """A write, and what it means.

    Args:
        by: who does it.
        method, path, body: the request.
        shows: texts that the writer's pages have afterwards.
        hides: texts that they do not have afterwards.
        then: takes the answer, to remember ids of it.
        keyed: whether it is sent with an Idempotency-Key.
        idle: whether it may change nothing that the pages show.
        ends: whether it ends the credentials with which it is sent, so that a repeat is refused.
        headers: further headers.
        in_steps: whether it may have happened by halves until it is acknowledged, which is documented.
    """

    by: Player
    method: str
    path: str
    body: object = None
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    then: Callable[[Any], object] = lambda _made: None
    keyed: bool = True
    idle: bool = False
    ends: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    in_steps: bool = False

    @property
    def repeated(self) -> int | None:
        """The status of a repeat that is refused because the first one has happened; DELETE knows no keys."""
        if self.ends:
            return 401
        return 404 if self.method == "DELETE" else None

    def wrong(self, photo: dict[str, str]) -> list[str]:
        """What pages should show and do not, the other way round, and what they show twice."""
        seen = "\n".join(photo.values())
        return (
            [f"no {text}" for text in self.shows if text not in seen]
            + [f"still {text}" for text in self.hides if text in seen]
            + [
                f"twice {text} in {page}"
                for text in self.shows
                for page in photo
                if _most(photo[page], text) > 1
            ]
        )


def _most(page: str, text: str) -> int:
    """How many things of a list of a page hold a word; other texts than words may be there more often."""
    if not text.endswith("q") or text not in page:
        return 0
    shown = json.loads(page.partition(" ")[2])
    lists = [one for one in shown.values() if isinstance(one, list)] if isinstance(shown, dict) else [shown]
    return max((sum(text in json.dumps(one) for one in each) for each in lists), default=0)


class Stands:
    """How each of some things stands, in a word: `invited`, `member`; more may follow the word.

    Args:
        rng: chooses among them.
        ids: of those that are there from the beginning, of which there is no word.
    """

    def __init__(self, rng: Random, ids: Iterable[str] = ()) -> None:
        self._rng = rng
        self.of = dict.fromkeys(ids, "")

    def any(self, *words: str) -> str | None:
        """The id of one that stands so, or None."""
        found = [id for id, stand in self.of.items() if stand.partition(" ")[0] in words]
        return self._rng.choice(found) if found else None

    def move(self, id: str, stand: str) -> Callable[[Any], None]:
        """What notes that one stands so, once that is acknowledged."""
        return lambda _made: self.of.__setitem__(id, stand)


@dataclass
class Writer:
    """Writes in one domain.

    Args:
        name: of the domain.
        stage: the program.
        soft: further fields of the pages that are promised to nobody, and documented so.
    """

    name: str
    stage: Stage
    soft: frozenset[str] = frozenset()
    pages: dict[str, tuple[Player, str]] = field(default_factory=dict)
    choices: list[Callable[[], Deed | None]] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=dict)
    after_look: Callable[[], object] = lambda: None

    def json(self, by: Player, path: str) -> Any:
        """The JSON of a page, as it was seen last."""
        return json.loads(self.seen[f"{path} as {by.name}"].partition(" ")[2])

    def page(self, by: Player, path: str) -> None:
        """Look at this page as well from now on."""
        self.pages[f"{path} as {by.name}"] = (by, path)

    def no_page(self, by: Player, path: str) -> None:
        """Look at this page no more."""
        self.pages.pop(f"{path} as {by.name}", None)

    def flip(self, name: str, *, first: bool = True) -> bool:
        """A switch that is turned with each call."""
        self.switches[name] = not self.switches.get(name, not first)
        return self.switches[name]

    def deed(self, choice: Callable[[], Deed | None]) -> Callable[[], Deed | None]:
        """Add what may be done; None where it cannot be done now."""
        self.choices.append(choice)
        return choice

    async def look(self) -> dict[str, str]:
        """All pages."""
        photo = {}
        for label, (by, path) in list(self.pages.items()):
            answer = await self.stage.answered(partial(by.ask, "GET", path))
            photo[label] = plain(answer, SOFT | self.soft)
            assert answer.status_code < 500, f"{self.name}: {label}: {answer.text}"
        return photo

    async def write(self) -> None:
        """Write until told to stop; the write in hand is finished first."""
        self.seen = await self.look()
        while not self.stage.stopping:
            deed = self.stage.rng.choice(self.choices)()
            if deed is None:
                continue
            if self.pages.keys() != self.seen.keys():
                self.seen = await self.look()
            await self._do(deed)

    async def _do(self, deed: Deed) -> None:
        made = await self._acknowledged(deed)
        before = self.seen
        await self.stage.acknowledge()
        deed.then(made)

        def faults(photo: dict[str, str]) -> list[str]:
            is_idle = photo == before and not deed.idle
            return deed.wrong(photo) + ["the same pages as before"] * is_idle

        self.seen = await self._look_for(lambda photo: not faults(photo))
        self.after_look()
        self.after_look = lambda: None
        wrong = faults(self.seen)
        assert not wrong, f"{self.name}: {deed.method} {deed.path} was acknowledged: {wrong} in {self.seen}"

    async def _acknowledged(self, deed: Deed) -> Any:
        """Do it until it is acknowledged; before each repeat the pages are compared with those of before."""
        headers = {**deed.headers, **({"idempotency-key": self.stage.word("key-")} if deed.keyed else {})}
        may_have_happened = False
        await self.stage.pass_gate()
        with trio.fail_after(PATIENCE_SECONDS):
            while True:
                await self.stage.up.wait()
                try:
                    answer = await self._sent(deed, headers)
                except httpx2.ConnectError:
                    pass
                except httpx2.TransportError:
                    may_have_happened |= self._unanswered()
                else:
                    if answer.status_code in {200, 201, 202, 204}:
                        return answer.json() if answer.content else None
                    if may_have_happened and answer.status_code == deed.repeated:
                        return None
                    may_have_happened |= self._excused(deed, answer)
                await trio.sleep(RETRY_SECONDS)
                await self.compare(deed if may_have_happened else None)

    async def _sent(self, deed: Deed, headers: dict[str, str]) -> httpx2.Response:
        self.stage.http.cookies.clear()  # nobody here is a browser that was here before
        if isinstance(deed.body, bytes):
            return await deed.by.ask(deed.method, deed.path, content=deed.body, headers=headers)
        return await deed.by.ask(deed.method, deed.path, deed.body, headers=headers)

    def _unanswered(self) -> bool:
        self.stage.unknown += 1
        return not self.stage.answers_all

    def _excused(self, deed: Deed, answer: httpx2.Response) -> bool:
        """Whether a write may have happened that was refused for no fault of its own."""
        problem = answer.json()
        busy = answer.status_code == 409 and problem["code"] == "IDEMPOTENCY_IN_PROGRESS"
        said = f"{self.name}: {deed.method} {deed.path}: {answer.status_code} {answer.text}"
        assert busy or answer.status_code == 503, said
        self.stage.refused += 1
        return busy or deed.in_steps or problem["meta"].get("outcome") == "unknown"

    async def compare(self, deed: Deed | None) -> None:
        """Compare the pages with those of before.

        Args:
            deed: what was under way, if anything was.
        """

        def wrong_of(photo: dict[str, str]) -> list[str]:
            if photo == self.seen:
                return []
            if deed is None:
                return ["nothing was under way"]
            return [] if deed.in_steps else deed.wrong(photo)

        now = await self._look_for(lambda photo: not wrong_of(photo))
        wrong = wrong_of(now)
        line = "" if deed is None else f"{deed.method} {deed.path}"
        assert not wrong, f"{self.name}: {line}: {wrong}\n{changes(self.seen, now)}"

    async def _look_for(self, is_right: Callable[[dict[str, str]], bool]) -> dict[str, str]:
        """All pages, at once; where the program's memory has to find out first what a database that went away has
        kept, once they are right, or as they are when the time for that is up."""
        photo = await self.look()
        with trio.move_on_after(HEALING_SECONDS if self.stage.heals else 0):
            while not is_right(photo):
                await trio.sleep(RETRY_SECONDS)
                photo = await self.look()
        return photo


def changes(before: dict[str, str], after: dict[str, str]) -> str:
    """What is otherwise on pages, field by field."""
    told = []
    for label in before.keys() | after.keys():
        one, other = before.get(label, ""), after.get(label, "")
        if one != other:
            told.append(f"{label}:")
            told += unified_diff(
                one.replace(", ", ",\n").split("\n"), other.replace(", ", ",\n").split("\n"), n=1
            )
    return "\n".join(told)
