"""Everything that passes between the actors of this node and of the others: commands for owners elsewhere (`posts.py`,
`telling.py`), and news of owners here for the views, memory and copies (`followed.py`) of other nodes.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import chain
from typing import Any, Protocol

import msgspec
import structlog
import trio

from actors.errors import Elsewhere, Overloaded
from actors.kernel.facets import News
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer, Letter
from actors.kernel.nodes.entries import Answered, Asked, Heard, Moved, Touched, encode
from actors.kernel.nodes.failures import RENEWED, failed
from actors.kernel.nodes.followed import Followed, Position
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.posts import Posts, packed
from actors.kernel.nodes.telling import Decoders, Telling, decoders_of
from actors.kernel.nodes.whereabouts import Place, Whereabouts
from persistence.errors import OutcomeUnknown
from persistence.nodes.members import Lease
from persistence.nodes.shards import shard_of

_log = structlog.get_logger()


class Here(Protocol):
    """The way to the actors of this node."""

    def deliver(self, kind: Kind[Any, Any], id: str, letter: Letter, /) -> None:
        """Give a letter to an owner of this node."""
        ...

    def post_for_other(
        self,
        kind: Kind[Any, Any],
        id: str,
        command: Any,
        answer: Callable[[Answer], None],
        seconds: float,
        /,
    ) -> None:
        """Have an owner here decide a command of another node's caller; see `routing.Routing.post_for_other`."""
        ...

    def tell_here(self, kind_name: str, id: str, command: Any) -> bool:
        """Tell an owner that lives here a command of its kind; returns False when it does not.

        Args:
            kind_name: the name of the kind.
            command: one of the kind's commands.
        """
        ...


class Far:
    """The way from this node's actors to those of the others.

    Args:
        where: which node owns which shard.
        peers: the other nodes.
        spawn: starts a task that ends with the node.
        ask_seconds: how long a caller waits for its answer.

    Attributes:
        followed: which owners here are shown on other nodes.
    """

    def __init__(
        self, where: Whereabouts, peers: Peers, spawn: Callable[..., object], ask_seconds: float
    ) -> None:
        self.ask_seconds = ask_seconds
        self.where = where
        self.peers = peers
        self.followed = Followed(where, peers)
        self._posts = Posts(where, peers, spawn)
        self._telling = Telling(where, peers, spawn, ask_seconds)
        self._spawn = spawn
        self._here: Here | None = None
        # by view and source, of this step
        self._touched: dict[tuple[str, str], list[Collection[str]]] = {}
        self._kinds: Mapping[str, Kind[Any, Any]] = {}
        self._decoders: Decoders = {}

    def open(
        self,
        here: Here,
        kinds: Mapping[str, Kind[Any, Any]],
        *,
        position: Position,
        touched: Callable[[str, Collection[str], str], None],
    ) -> None:
        """Connect the actors of this node; called once.

        Args:
            here: the way to the actors of this node.
            kinds: every kind, by name.
            position: says where an owner of this node stands.
            touched: marks views that are watched here as changed: the view's name, the ids, and the id of the owner
                whose event it was.
        """
        self._here, self._kinds = here, kinds
        self._decoders = decoders_of(kinds.values())
        self._posts.open(here.deliver)
        self._telling.open(here.tell_here, self._decoders)
        self.followed.open(position)
        peers = self.peers
        peers.hear(Asked, self._hear_question)
        peers.hear(Touched, lambda _, entry: touched(entry.view, entry.ids, entry.source))
        peers.hear(Heard, self._hear_news)

    def close(self) -> None:
        """Disconnect the actors of this node: they hear nothing more of what other nodes say."""
        self.peers.close()

    # -- to owners elsewhere ------------------------------------------------------------------------

    def is_here(self, kind_name: str, id: str) -> bool:
        """Whether an owner lives here, or may be loaded here now.

        Args:
            kind_name: the name of the owner's kind.
        """
        return self.where.is_here(kind_name, id)

    def holds(self, kind_name: str, id: str) -> bool:
        """Whether letters for an owner are under way, so that later ones belong behind them.

        Args:
            kind_name: the name of the owner's kind.
        """
        return self._posts.holds(kind_name, id)

    @property
    def under_way(self) -> int:
        """How many letters wait until their owner's node is known, or for its answer."""
        return self._posts.under_way

    async def place(self, kind_name: str, id: str) -> Place | None:
        """The node where an owner lives, None for this one; while it is between two, waits as long as an ask may.

        Args:
            kind_name: the name of the owner's kind.

        Raises:
            Overloaded: its node is not heard, or no node has it by then. Cancellation ends the wait.
        """
        return await self.where.place(kind_name, id, self.ask_seconds)

    def post(self, kind: Kind[Any, Any], id: str, letter: Letter, seconds: float) -> None:
        """Have a letter decided wherever its owner is, and answer it; see `Posts.post`.

        Args:
            kind, id: which owner.
            letter: a letter for an owner that is not here.
            seconds: how long the letter's caller waits.
        """
        self._posts.post(kind, id, letter, seconds)

    def forward(self, kind: Kind[Any, Any], id: str, now_ms: int, letter: Letter) -> None:
        """Send a letter on that has waited here for an owner which has left this node.

        Args:
            kind, id: which owner.
            now_ms: epoch milliseconds.
            letter: a letter that no turn has taken.
        """
        if letter.answer is not None:
            self.post(kind, id, letter, (letter.deadline_ms - now_ms) / 1000)
            return
        # One that does not cross is of its deadline, which its next owner has as well.
        if type(letter.command) in kind.crossing:
            self.tell(kind, id, letter.command)

    def tell(self, kind: Kind[Any, Any], id: str, command: Any) -> None:
        """Tell an owner elsewhere, if it lives there, a command without a caller; see `Telling.tell`."""
        self._telling.tell(kind, id, command)

    # -- from owners here ---------------------------------------------------------------------------

    def touched(self, view_name: str, ids: Collection[str], source: str) -> None:
        """Have views marked as changed on the other nodes where they are watched.

        Args:
            view_name: the name of the view.
            ids: which of these views; a collection that changes no more.
            source: the id of the owner whose event it was.
        """
        if ids and self.peers.are_any:
            if not self._touched:
                self.peers.at_end_of_step(self._tell_touched)
            known = self._touched.get((view_name, source))
            if known is None:
                self._touched[view_name, source] = [ids]
            else:
                known.append(ids)

    def news(self, kind_name: str, id: str, event: Any) -> None:
        """Have memory on all other nodes follow an event of an owner here.

        Args:
            kind_name: the name of the owner's kind.
            event: the event; None to have memory ask the owner instead.
        """
        fence = self.where.fences.get(self.where.shard_of(kind_name, id), 0)
        heard = (
            Heard(kind_name, id, "", b"")
            if event is None or not fence
            else Heard(kind_name, id, type(event).__name__, encode(event), fence)
        )
        self.peers.tell_all(heard)

    def _tell_touched(self) -> None:
        touched, self._touched = self._touched, {}
        for (view_name, source), those in touched.items():
            ids = those[0] if len(those) == 1 else dict.fromkeys(chain.from_iterable(those))
            self.peers.tell_all(Touched(view_name, list(ids), source))

    # -- from the others ----------------------------------------------------------------------------

    def _hear_question(self, node: str, asked: Asked) -> None:
        if self._here is None:
            return
        shard = shard_of(asked.kind, asked.id)
        own = self.where.fences.get(shard)
        if own != asked.fence:
            self.where.learn({shard: Lease(self.where.node, asked.fence)})
            own = self.where.fences.get(shard)
        if own is not None and own != asked.fence:
            # The shard was elsewhere meanwhile: letters before this one may be on their way back to the asker.
            self.peers.tell(node, Moved(asked.number, self.where.node, own))
            return
        try:
            kind = self._kinds[asked.kind]
            command = self._decoders[asked.kind, asked.name](asked.command)
        except (KeyError, msgspec.DecodeError) as fault:
            # Of another release, while nodes are renewed: nothing was done, and the owner moves to a node of that one.
            _log.warning("question_not_understood", node=node, kind=asked.kind, why=type(fault).__name__)
            self.peers.tell(node, Answered(asked.number, None, failed(Overloaded(RENEWED))))
            return
        asker = self.peers.life(node)
        until = trio.current_time() + asked.left_ms / 1000
        answer = partial(self._answer, asker, asked.number, until, kind.crossing[type(command)])
        self._here.post_for_other(kind, asked.id, command, answer, asked.left_ms / 1000)

    def _answer(self, asker: Life | None, number: int, until: float, form: Any, answer: Answer) -> None:
        """Answer the node's life that has asked; if it has ended, nobody waits for the answer.

        Args:
            until: when its caller stops waiting, on trio's clock.
            form: the type of replies to the command; None for none.
        """
        if asker is None or not self.peers.lives(asker):
            return
        node, error = asker.node, answer.error
        if isinstance(error, Elsewhere):
            self.peers.tell(node, Moved(number, error.node, error.fence))
            return
        failure = None if error is None else failed(error)
        reply = packed(form, answer.reply) if failure is None else None
        data = encode(Answered(number, reply, failure))
        if self.peers.is_too_large(data):
            self._answer_unknown(asker, number)
        elif not self.peers.answers.say(node, data):
            self._spawn(self._answer_later, asker, number, until, data)

    async def _answer_later(self, asker: Life, number: int, until: float, data: bytes) -> None:
        is_said = False
        with trio.move_on_at(until):
            if self.peers.lives(asker):
                is_said = await self.peers.answers.wait_to_say(asker.node, data)
        if not is_said:
            self._answer_unknown(asker, number)

    def _answer_unknown(self, asker: Life, number: int) -> None:
        """Answer that the outcome is unknown, because the answer itself is too large or found no room in time."""
        if self.peers.lives(asker):
            self.peers.tell(asker.node, Answered(number, None, failed(OutcomeUnknown())))

    def _hear_news(self, node: str, heard: Heard) -> None:
        kind = self._kinds.get(heard.kind)
        followers = None if kind is None else kind.followers
        if followers is None:
            return
        event = None
        if heard.name and followers.news is not None and not self._is_late(node, heard):
            try:
                event = _event(followers.news, heard)
            except (StopIteration, msgspec.DecodeError) as fault:
                # Another release may tell it in a form of its own: the owner can be asked all the same.
                _log.warning("news_not_understood", node=node, kind=heard.kind, why=type(fault).__name__)
        if event is not None and followers.news is not None:
            followers.news.hear(heard.id, event)
        elif followers.on_outcome_unknown is not None:
            followers.on_outcome_unknown(heard.id)

    def _is_late(self, node: str, heard: Heard) -> bool:
        """Whether news of a former owner come after the shard has moved: they may have been overtaken by those of the
        present one, and what these say must not be undone."""
        if not heard.fence:
            return False
        shard = self.where.shard_of(heard.kind, heard.id)
        self.where.learn({shard: Lease(node, heard.fence)})
        return self.where.has_moved_since(shard, heard.fence)


def _event(news: News, heard: Heard) -> Any:
    form = next(one for one in news.of if one.__name__ == heard.name)
    return msgspec.msgpack.decode(heard.event, type=form)
