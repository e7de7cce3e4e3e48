"""What a client of a ledger makes of what arrives."""

from typing import Any


def fold(seen: dict[str, Any], arrived: dict[str, Any]) -> dict[str, Any]:
    """What a client that follows the events makes of one more; must equal `frame` in the end."""
    seen, data = dict(seen), arrived["data"]
    match arrived["event"]:
        case "Changed":
            seen["total"] += data["amount"]
            seen["count"] += 1
        case "Promoted":
            seen["bosses"] = sorted({*seen["bosses"], data["who"]})
        case "Kicked":
            seen["kicked"] = sorted({*seen["kicked"], data["who"]})
        case "AlarmSet":
            seen["alarm"] = data["at_ms"]
        case "Rang":
            seen["alarm"] = None
            seen["rang"] += 1
    if arrived["self"]["boss"]:
        seen["secret"] = seen["total"] * 2
    return seen
