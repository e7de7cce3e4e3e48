"""Why a user may do something, or may not: the grant, the purchase or the role that decides. Pure.

The five rules of `permissions.py`, in the same order; a test holds both against each other.
"""

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from actors.users.permissions import ABSENT_GRANTS, QUOTA_UNITS, ROLE_LABELS, ROLE_NODES, Role, covers
from actors.users.quantities import Quantity
from persistence.users.permissions import Grant

Decider = Literal["denied", "granted", "bought", "role", "default", "nothing"]
"""What decides: a negated grant, a grant, a purchase, a role, the node's absence from the catalog, or nothing."""


@dataclass(frozen=True, slots=True)
class Right:
    """A grant of a user, or what they have bought.

    Args:
        grant: the grant as it is stored.
        purchase_id: the purchase that gave it; None for a grant of an admin.
    """

    grant: Grant
    purchase_id: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a user may do what a node gates, and why.

    Args:
        allowed: whether they may; always True for a quota node, which gates nothing.
        decider: the sort of thing that decides.
        right: the grant or purchase that decides; None for the other sorts.
        role: the role that decides, the lowest one that gives the node; None for the other sorts.
        quantity: the quantity that the node carries; None for none, which for a quota node means the default.
    """

    node: str
    allowed: bool
    decider: Decider
    right: Right | None = None
    role: Role | None = None
    quantity: Quantity | None = None


def nodes_to_explain(catalog: AbstractSet[str], rights: Iterable[Right]) -> list[str]:
    """Every node that a list of verdicts has, sorted; patterns are reasons, not nodes.

    Args:
        catalog: every node that the store knows.
        rights: the rights of the user.
    """
    named = catalog | ABSENT_GRANTS | {right.grant.node for right in rights}
    return sorted(node for node in named if "*" not in node)


def explain(
    node: str, roles: Collection[Role], rights: Sequence[Right], catalog: AbstractSet[str], now_ms: int
) -> Verdict:
    """The verdict about one node, and what decides it.

    Args:
        node: a node without `*` segments.
        roles: the user's roles, with or without `Role.USER`, which everybody has.
        rights: every right of the user; expired ones and those that begin later count as absent.
        catalog: every node that the store knows.
        now_ms: epoch milliseconds.
    """
    covering = [
        right for right in rights if _is_alive(right.grant, now_ms) and covers(right.grant.node, node)
    ]
    denials = [right for right in covering if right.grant.negated]
    grants = [right for right in covering if not right.grant.negated]
    carried = None if denials else _carried(grants, node)
    quantity = None if carried is None else carried[0]
    if denials:
        return Verdict(node, node in QUOTA_UNITS, "denied", _nearest(denials, node))
    if node in QUOTA_UNITS and carried is None:
        return Verdict(node, True, "default")
    if grants:
        right = _nearest(grants, node) if carried is None else carried[1]
        return Verdict(node, True, _given_by(right), right, quantity=quantity)
    role = _role_with(node, roles)
    if role is not None:
        return Verdict(node, True, "role", role=role)
    if node in ABSENT_GRANTS and node not in catalog:
        return Verdict(node, True, "default")
    return Verdict(node, False, "nothing")


def _carried(grants: Sequence[Right], node: str) -> tuple[Quantity, Right] | None:
    """The largest quantity that a node carries, and what gives it; patterns carry none."""
    found = [
        (Quantity(right.grant.value, right.grant.unit), right)
        for right in grants
        if right.grant.node == node and right.grant.value is not None
    ]
    return max(found, key=lambda one: one[0].in_base_unit, default=None)


def _given_by(right: Right) -> Decider:
    return "granted" if right.purchase_id is None else "bought"


def _is_alive(grant: Grant, now_ms: int) -> bool:
    return grant.begins_at_ms <= now_ms and (grant.expires_at_ms is None or grant.expires_at_ms > now_ms)


def _nearest(rights: Sequence[Right], node: str) -> Right:
    """The right that is named as the reason: the node's own before a pattern, then the one that lasts longest."""

    def rank(right: Right) -> tuple[bool, bool, int, bool]:
        end_ms = right.grant.expires_at_ms
        return right.grant.node == node, end_ms is None, end_ms or 0, right.purchase_id is None

    return max(rights, key=rank)


def _role_with(node: str, roles: Collection[Role]) -> Role | None:
    for role in reversed(ROLE_LABELS):
        if (role is Role.USER or role in roles) and (
            role is Role.SUPER_ADMIN or node in ROLE_NODES.get(role, ())
        ):
            return role
    return None
