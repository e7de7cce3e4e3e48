"""The catalogues of mods as routes read them: from memory, or by one request for all equal concurrent reads."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from actors.kernel.clock import Clock
from actors.kernel.single_flight import SingleFlight
from actors.mods.kept import MAX_BYTES, Body, Failure, Kept, Said
from routes.mods.requests import ModRequest, SourceName
from routes.mods.source import Source


@dataclass(frozen=True, slots=True)
class Found:
    """An answer of a catalogue.

    Args:
        body: the answer's body.
        hit: whether it was in memory already when it was asked for.
    """

    body: Body
    hit: bool


Outcome: TypeAlias = Found | Failure


class ModLibrary:
    """Both catalogues, and what is kept of their answers.

    Args:
        sources: all catalogues.
        clock: the time that the rules go by.
        max_bytes: the most bytes of answers that are kept.

    Attributes:
        kept: the kept answers, by request.
        answers: {where answers came from: how many}.
    """

    def __init__(self, sources: Iterable[Source], clock: Clock, max_bytes: int = MAX_BYTES) -> None:
        self.sources: dict[SourceName, Source] = {source.name: source for source in sources}
        self.kept = Kept(max_bytes)
        self.answers = dict.fromkeys(("memory", "stale", "upstream", "failure"), 0)
        self._clock = clock
        self._flights: SingleFlight[ModRequest, Said] = SingleFlight()

    async def read(self, request: ModRequest) -> Outcome:
        """The answer to a request, or why there is none; the source is asked only for what is not known.

        Waits no longer than a source may take. Cancellation: another reader that waits for the same answer asks for it.
        """
        known = self.kept.get(request).said(self._clock.now_ms())
        if known is not None:
            return self._counted(known, hit=True)
        asked_at_ms = self._clock.now_ms()
        said = await self._flights.run(request, partial(self._ask, request))
        return self._counted(said, hit=isinstance(said, Body) and said.stored_at_ms < asked_at_ms)

    async def _ask(self, request: ModRequest) -> Said:
        source = self.sources[request.source]
        held_up = source.hold_up()
        if held_up is not None:
            # Nothing was sent, so nothing is kept: invented requests must not push out answers.
            return self.kept.get(request).shown(self._clock.now_ms()) or held_up
        said = await source.ask(request)
        now_ms = self._clock.now_ms()
        entry = self.kept.get(request).after(said, now_ms)
        self.kept.put(request, entry, request_bytes=request.text_bytes)
        return entry.body or said

    def _counted(self, said: Said, *, hit: bool) -> Outcome:
        if isinstance(said, Failure):
            self.answers["failure"] += 1
            return said
        stale = said.ttl_ms(self._clock.now_ms()) <= 0
        self.answers["stale" if stale else "memory" if hit else "upstream"] += 1
        return Found(said, hit)
