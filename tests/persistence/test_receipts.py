"""Receipts outside the writer: found until they expire, replaced only then, forgotten in batches."""

from functools import partial

import pytest

from persistence.bridge.database import Database
from persistence.errors import RowsRejected
from persistence.journal import receipts
from tests.support.turns import a_receipt


async def test_a_receipt_is_found_until_it_expires(database: Database) -> None:
    receipt = a_receipt(expires_at_ms=2_000)
    assert await database.read(receipts.find, receipt.key, 0) is None
    await database.transact(receipts.store, [receipt, a_receipt("other")], 1_000)
    assert await database.read(receipts.find, receipt.key, 1_999) == receipt
    assert await database.read(receipts.find, receipt.key, 2_000) is None


async def test_a_living_receipt_is_never_overwritten(database: Database) -> None:
    receipt = a_receipt(expires_at_ms=2_000)
    await database.transact(receipts.store, [receipt], 1_000)
    with pytest.raises(RowsRejected):
        await database.transact(receipts.store, [a_receipt("other"), a_receipt(reply=b"second")], 1_999)
    assert await database.read(receipts.find, receipt.key, 0) == receipt
    assert await database.read(receipts.find, a_receipt("other").key, 0) is None


async def test_an_expired_receipt_is_replaced(database: Database) -> None:
    await database.transact(receipts.store, [a_receipt(expires_at_ms=2_000, etag=b'"1"')], 1_000)
    second = a_receipt(reply=b"second", expires_at_ms=4_000)
    await database.transact(receipts.store, [second], 2_000)
    assert await database.read(receipts.find, second.key, 3_000) == second


async def test_expired_receipts_are_forgotten(database: Database) -> None:
    await database.transact(
        receipts.store, [a_receipt(str(number), expires_at_ms=number) for number in range(1, 11)], 0
    )

    prune = partial(receipts.prune, now_ms=7)
    assert [await database.transact(prune, 5) for _ in range(3)] == [5, 2, 0]
    assert await database.read(receipts.find, a_receipt("8").key, 0) is not None
