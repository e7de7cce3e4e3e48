"""Letters on their way to owners on other nodes, in order, and the answers to them.

All letters for one owner form a line. They are sent as soon as its node is known, without waiting for answers, and the
owner decides them in this order. Where an owner moves, those that its former node has not decided come back (`Moved`),
and go on before the ones behind them:

    the owner is            a letter
    here                    is delivered, once those sent away before it are answered
    on another node         is sent there, once those sent to a former node are answered
    between two nodes       waits
    on a node unheard of    is refused

A letter is sent once. What was not answered in time, or asked of a node that has died, may have been done, and its
caller is told so (`OutcomeUnknown`). An answer is given synchronously as it comes, before whatever its node says next.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import trio

from actors.errors import Elsewhere, Overloaded
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer, Failure, Letter
from actors.kernel.nodes.entries import Answered, Asked, Moved, encode
from actors.kernel.nodes.failures import failure
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.whereabouts import WAITING_LETTERS, Place, Whereabouts
from persistence.errors import OutcomeUnknown
from persistence.nodes.members import Lease

MARGIN_SECONDS = 0.25
"""The node that asks waits so much longer than the owner's node, because that one knows the outcome."""

ROUND_SECONDS = 0.25
"""How often letters are looked at whose time may be over."""

Deliver: TypeAlias = Callable[[Kind[Any, Any], str, Letter], None]
"""Gives a letter to an owner of this node."""

Sent: TypeAlias = "tuple[Line, Post]"


class Post:
    """A letter in a line.

    Args:
        letter: the letter that is to be decided.
        until: when its caller stops waiting, on trio's clock.
    """

    __slots__ = ("letter", "until")

    def __init__(self, letter: Letter, until: float) -> None:
        self.letter = letter
        self.until = until


class Line:
    """The letters for one owner.

    Args:
        kind, id: which owner.

    Attributes:
        waiting: letters that are yet to be sent or delivered.
        returned: letters that came back, in order, while others were still under way.
        at: the place where the letters under way were sent.
        under_way: how many letters were sent and are not answered.
    """

    __slots__ = ("at", "id", "kind", "returned", "under_way", "waiting")

    def __init__(self, kind: Kind[Any, Any], id: str) -> None:
        self.kind = kind
        self.id = id
        self.waiting: deque[Post] = deque()
        self.returned: list[Post] = []
        self.at: Place | None = None
        self.under_way = 0

    @property
    def is_over(self) -> bool:
        """Whether no letter of the line waits or is under way."""
        return not (self.waiting or self.under_way)


class Posts:
    """All lines of this node.

    Args:
        where: which node owns which shard.
        peers: the other nodes.
        spawn: starts a task that ends with the node.
    """

    def __init__(self, where: Whereabouts, peers: Peers, spawn: Callable[..., object]) -> None:
        self._where = where
        self._peers = peers
        self._spawn = spawn
        self._deliver: Deliver | None = None
        self._lines: dict[tuple[str, str], Line] = {}
        self._numbers = peers.links.own.numbers()
        self._sent: dict[int, Sent] = {}
        self._waiting = 0
        self._ending: list[Letter] = []  # answered in this step
        self._is_looked_after = False
        peers.hear(Answered, self._hear_answer)
        peers.hear(Moved, self._hear_moved)
        peers.on_parted(self._parted)

    def open(self, deliver: Deliver) -> None:
        """Have letters for owners of this node delivered; called once."""
        self._deliver = deliver

    def holds(self, kind_name: str, id: str) -> bool:
        """Whether letters for this owner are under way, so that later ones belong behind them.

        Args:
            kind_name: the name of the owner's kind.
        """
        return (kind_name, id) in self._lines

    @property
    def under_way(self) -> int:
        """How many letters wait until their owner's node is known, or for its answer."""
        return len(self._sent) + self._waiting

    def post(self, kind: Kind[Any, Any], id: str, letter: Letter, seconds: float) -> None:
        """Have a letter decided wherever its owner is, behind all that were posted before, and answer it.

        Never raises; what goes wrong is in the answer: Elsewhere for a command that does not cross or has a receipt,
        and for a letter that may not be sent on.

        Args:
            kind, id: which owner.
            letter: a letter for an owner that is not here, or was not when the letters before it were posted.
            seconds: how long the letter's caller waits.
        """
        if self._waiting >= WAITING_LETTERS:
            letter.close(Answer(None, Overloaded()))
            return
        line = self._lines.get((kind.name, id))
        if line is None:
            line = self._lines[kind.name, id] = Line(kind, id)
        now = trio.current_time()
        line.waiting.append(Post(letter, now + seconds))
        self._waiting += 1
        self._advance(line, now)
        if self._lines and not self._is_looked_after:
            self._is_looked_after = True
            self._spawn(self._look_after)

    # -- lines --------------------------------------------------------------------------------------

    def _advance(self, line: Line, now: float) -> None:
        """Have the line's letters go as far as they can at `now`, on trio's clock."""
        while line.waiting:
            place = self._where.elsewhere(line.kind.name, line.id)
            if place is None and not self._where.is_here(line.kind.name, line.id):
                return
            if line.under_way and line.at != place:
                return
            post = line.waiting.popleft()
            self._waiting -= 1
            self._go(line, post, place, now)
        if line.is_over:
            self._lines.pop((line.kind.name, line.id), None)

    def _go(self, line: Line, post: Post, place: Place | None, now: float) -> None:
        letter = post.letter
        if not letter.open:
            letter.end()
        elif place is None:
            if self._deliver is not None:
                self._deliver(line.kind, line.id, letter)
        elif (
            not letter.passes or letter.receipt is not None or type(letter.command) not in line.kind.crossing
        ):
            letter.close(Answer(None, Elsewhere(*place)))
        elif not self._send(line, post, place, now):
            letter.close(Answer(None, Overloaded()))

    def _send(self, line: Line, post: Post, place: Place, now: float) -> bool:
        number, command = next(self._numbers), post.letter.command
        left_ms = int(max(0.0, post.until - now) * 1000)
        name = type(command).__name__
        asked = Asked(number, line.kind.name, line.id, place.fence, name, encode(command), left_ms)
        if not self._peers.call(place.node, asked):
            return False
        self._sent[number] = (line, post)
        line.at = place
        line.under_way += 1
        return True

    async def _look_after(self) -> None:
        """Have lines go on when owners have moved, and answer callers whose time is over; until there are none."""
        try:
            while self._lines:
                with trio.move_on_after(ROUND_SECONDS):
                    await self._where.wait_changed()
                now = trio.current_time()
                for number, (_, post) in list(self._sent.items()):
                    if post.until + MARGIN_SECONDS <= now or not post.letter.open:
                        self._answer(number, OutcomeUnknown("no answer of another node in time"))
                for line in list(self._lines.values()):
                    self._drop_overdue(line, now)
                    self._advance(line, now)
        finally:
            self._is_looked_after = False

    def _drop_overdue(self, line: Line, now: float) -> None:
        overdue = [post for post in line.waiting if post.until <= now]
        if overdue:
            self._waiting -= len(overdue)
            line.waiting = deque(post for post in line.waiting if post.until > now)
            for post in overdue:
                post.letter.close(Answer(None, Overloaded()))

    # -- answers ------------------------------------------------------------------------------------

    def _answer(self, number: int, error: Failure | None, reply: Any = None) -> None:
        """Answer the caller of a letter that was sent, and have the line go on.

        Args:
            number: the number under which the letter was sent.
            error: why there is no reply; None where there is one.
        """
        line, post = self._sent.pop(number)
        post.letter.reply(Answer(reply, error))
        if not self._ending:
            self._peers.at_end_of_step(self._end)
        self._ending.append(post.letter)
        self._leave(line)

    def _end(self) -> None:
        """Tell callers that the frames of their turns are out: where they watch here, those came with the answers."""
        ending, self._ending = self._ending, []
        for letter in ending:
            letter.end()

    def _leave(self, line: Line) -> None:
        line.under_way -= 1
        if not line.under_way and line.returned:
            line.waiting.extendleft(reversed(line.returned))
            line.returned = []
        if line.waiting:
            self._advance(line, trio.current_time())
        elif not line.under_way:
            self._lines.pop((line.kind.name, line.id), None)

    def _hear_answer(self, _node: str, answered: Answered) -> None:
        sent = self._sent.get(answered.number)
        if sent is None:
            return
        if answered.failure is not None:
            self._answer(answered.number, failure(answered.failure))
            return
        form = sent[0].kind.crossing[type(sent[1].letter.command)]
        self._answer(answered.number, None, unpacked(form, answered.reply))

    def _hear_moved(self, _node: str, moved: Moved) -> None:
        sent = self._sent.pop(moved.number, None)
        if sent is not None:
            line, post = sent
            shard = self._where.shard_of(line.kind.name, line.id)
            self._where.learn({shard: Lease(moved.node, moved.fence)})
            line.returned.append(post)
            self._waiting += 1
            self._leave(line)

    def _parted(self, node: str) -> None:
        for number, (line, _) in list(self._sent.items()):
            if line.at is not None and line.at.node == node and number in self._sent:
                self._answer(number, OutcomeUnknown(f"node {node} has not answered"))


def packed(form: Any, reply: Any) -> bytes | None:
    """A reply as it travels: JSON as it is, anything else encoded.

    Args:
        form: the type of replies to the command; None for none.
    """
    if form is None:
        return None
    return bytes(reply) if form is msgspec.Raw else encode(reply)


def unpacked(form: Any, reply: bytes | None) -> Any:
    """The reply that `packed` has encoded.

    Args:
        form: the type of replies to the command; None for none.
        reply: the encoded reply; None for none.
    """
    if form is None or reply is None:
        return None
    return msgspec.Raw(reply) if form is msgspec.Raw else msgspec.msgpack.decode(reply, type=form)
