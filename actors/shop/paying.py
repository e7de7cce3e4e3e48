"""Move the purchases of one checkout: steps of units of work, inside the caller's transaction.

The recipient's row is locked first, and the checkout's after it, also where no right or limit turns out to be
concerned: so do all, those who make a checkout and who erase its users too. In the other order an erasure knew nothing
of a checkout that was made just before it had the user, and met its payment in a deadlock when the user was deleted.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.shop import entitling
from actors.shop.events import told
from actors.shop.moves import PURCHASE_MOVES, PurchaseMove
from persistence.connection import Connection
from persistence.shop import checkouts
from persistence.shop import purchases as rows
from persistence.shop.checkouts import Checkout
from persistence.shop.entitlements import has_of_purchase
from persistence.shop.products import read_named
from persistence.shop.purchases import Hold, Purchase, PurchaseStatus
from persistence.users.audit import Stamp, write_audit
from persistence.users.users import lock_user


class Till:
    """The purchases of a locked checkout, and what happens to them in one transaction.

    Args:
        conn: the transaction's connection.
        checkout: the checkout, locked after its recipient.
        stamp: identifies who acts, and their request, in the audit trail.
        lines: the checkout's purchases, in their order.
        has_recipient: whether the recipient exists, and is locked until the transaction ends. All lines have the same
            one.

    Attributes:
        checkout: the checkout as it is now.
        note: a note of the admin who acts, for the audit trail; None without one.
        now_ms: epoch milliseconds.
    """

    def __init__(
        self,
        conn: Connection,
        checkout: Checkout,
        stamp: Stamp,
        *,
        lines: Sequence[Purchase],
        has_recipient: bool,
    ) -> None:
        self.checkout = checkout
        self.note: str | None = None
        self.now_ms = stamp.at_ms
        self._conn = conn
        self._stamp = stamp
        self._lines = {one.id: one for one in lines}
        self._before = dict(self._lines)
        self._rights_changed = False
        self._has_recipient = has_recipient

    @classmethod
    async def new(cls, conn: Connection, checkout: Checkout, stamp: Stamp) -> "Till":
        """The till of a checkout that the caller has just made, under a lock of its recipient."""
        lines = await rows.of_checkout(conn, checkout.id)
        return cls(conn, checkout, stamp, lines=lines, has_recipient=True)

    @classmethod
    async def open(cls, conn: Connection, id: str, stamp: Stamp) -> "Till | None":
        """Lock a checkout, and its recipient before it; None when there is no such checkout."""
        seen = await checkouts.read_checkout(conn, id)
        if seen is None:
            return None
        is_there = seen.recipient_id is not None and await lock_user(conn, seen.recipient_id) is not None
        checkout = await checkouts.lock_checkout(conn, id)
        if checkout is None:
            return None
        # Of a recipient who was erased since that look, and has come back, it is not.
        has_recipient = is_there and checkout.recipient_id is not None
        lines = await rows.of_checkout(conn, id)
        return cls(conn, checkout, stamp, lines=lines, has_recipient=has_recipient)

    @property
    def lines(self) -> tuple[Purchase, ...]:
        """The purchases as they are now."""
        return tuple(self._lines.values())

    def line(self, purchase_id: str) -> Purchase:
        """One purchase as it is now; raises KeyError when it is of another checkout."""
        return self._lines[purchase_id]

    def statuses(self) -> set[PurchaseStatus]:
        """The states in which the purchases are now."""
        return {one.status for one in self._lines.values()}

    async def pay(
        self, line: Purchase, ref: str | None, *, amount_matches: bool, move: PurchaseMove = PurchaseMove.PAY
    ) -> None:
        """The money for a purchase is there: give what was bought, or hold it if something is wrong.

        Args:
            ref: the provider's name of the payment; None without one.
            amount_matches: whether it is the amount that was asked for.
            move: PAY, or ACCEPT when an admin says so, whom neither a limit nor an amount holds up.
        """
        hold = await self._why_held(line, move, amount_matches=amount_matches)
        next_status = self._next(line, move if hold is None else PurchaseMove.HOLD)
        if next_status is None:
            return
        recipient_id = line.recipient_id
        line = replace(line, status=next_status, hold=hold, provider_ref=ref or line.provider_ref)
        if hold is None and recipient_id is not None:
            line = replace(line, fulfilled_at_ms=self.now_ms)
            # Given once, whatever is repeated: the rows of a purchase that was given are still there.
            if not await has_of_purchase(self._conn, line.id):
                await entitling.give(self._conn, line, recipient_id, self.now_ms)
            self._rights_changed = True
        self._lines[line.id] = line

    def fail(self, line: Purchase) -> None:
        """Note that no money will come for a purchase for now: what it reserved is free."""
        status = self._next(line, PurchaseMove.FAIL)
        if status is not None:
            self._lines[line.id] = replace(line, status=status)

    async def dispute(self, line: Purchase) -> bool:
        """Note that the payment of a purchase is disputed, which suspends its rights; returns whether that is a
        change."""
        return await self._suspend(line, PurchaseMove.DISPUTE, suspended=True)

    async def win(self, line: Purchase) -> bool:
        """Note that the dispute about a purchase was won, which restores its rights; returns whether that is a
        change."""
        return await self._suspend(line, PurchaseMove.WIN, suspended=False)

    async def refund(self, line: Purchase, refunded_amount: int) -> None:
        """Note that the money of a purchase went back, `refunded_amount` of it so far: its rights end for good."""
        status = self._next(line, PurchaseMove.REFUND)
        if status is None:
            return
        await entitling.take_back(self._conn, line, self.now_ms)
        self._rights_changed = True
        self._lines[line.id] = replace(
            line, status=status, hold=None, refunded_amount=refunded_amount, refunded_at_ms=self.now_ms
        )

    def refund_part(self, line: Purchase, refunded_amount: int) -> None:
        """Note that a part of a purchase's money went back, which leaves its rights.

        Args:
            refunded_amount: what went back so far, all refunds together; less than before changes nothing.
        """
        if self._next(line, PurchaseMove.REFUND) is not None:
            so_far = min(max(refunded_amount, line.refunded_amount), line.amount)
            self._lines[line.id] = replace(line, refunded_amount=so_far)

    def change(self, checkout: Checkout) -> None:
        """Put a changed checkout in place of the present one."""
        self.checkout = checkout

    def mark(self, line: Purchase) -> None:
        """Put a changed purchase in place of the present one."""
        self._lines[line.id] = line

    async def close(self) -> tuple[object, ...]:
        """Store the purchases that have changed, and an entry of the audit trail about them; returns the events."""
        changed = [one for one in self._lines.values() if one != self._before[one.id]]
        for one in changed:
            await rows.save_purchase(self._conn, one)
        moved = [one for one in changed if one.status != self._before[one.id].status]
        if any(one.status not in {"pending", "failed"} for one in moved):
            await self._audit(moved)
        return told(changed, rights=self._rights_changed)

    async def _audit(self, moved: Sequence[Purchase]) -> None:
        purchases = [
            {
                "purchaseId": one.id,
                "before": self._before[one.id].status,
                "after": one.status,
                "hold": one.hold,
            }
            for one in moved
        ]
        detail = {"checkoutId": self.checkout.id, "note": self.note, "purchases": purchases}
        encoded = msgspec.json.encode(detail)
        recipient_id = self.checkout.recipient_id
        await write_audit(self._conn, self._stamp, "purchase.changed", target_id=recipient_id, detail=encoded)

    async def _suspend(self, line: Purchase, move: PurchaseMove, *, suspended: bool) -> bool:
        status = self._next(line, move)
        if status is None:
            return False
        await entitling.suspend(self._conn, line, self.now_ms, suspended=suspended)
        self._rights_changed = True
        self._lines[line.id] = replace(line, status=status)
        return True

    async def _why_held(self, line: Purchase, move: PurchaseMove, *, amount_matches: bool) -> Hold | None:
        if not self._has_recipient:
            return "RECIPIENT_GONE"
        if move is PurchaseMove.ACCEPT:
            return None
        if not amount_matches:
            return "AMOUNT_MISMATCH"
        return "LIMIT" if line.status == "failed" and await self._exceeds(line) else None

    async def _exceeds(self, line: Purchase) -> bool:
        """Whether a purchase whose reservation was given up would exceed its product's limit by now."""
        product = (await read_named(self._conn, [line.product_id]))[line.product_id]
        if product.most_each is None or line.recipient_id is None:
            return False
        others = await rows.pieces_of(self._conn, line.recipient_id, [line.product_id], but=line.id)
        return others.get(line.product_id, 0) + line.quantity > product.most_each

    def _next(self, line: Purchase, move: PurchaseMove) -> PurchaseStatus | None:
        return PURCHASE_MOVES.get((line.status, move))
