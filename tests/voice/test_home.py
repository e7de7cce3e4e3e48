"""One node minds voice: the ids of channels, and who begins anew."""

import secrets

import pytest

from actors.ids import is_uuid
from actors.voice.home import lives_at_home, new_channel_id
from routes.voice.watch import Watch


def test_channels_live_together() -> None:
    ids = {new_channel_id(secrets.token_bytes) for _ in range(20)}
    assert len(ids) == 20
    assert all(is_uuid(id) and lives_at_home(id) for id in ids)


@pytest.mark.parametrize(
    ("history", "begins"),
    [
        ([1], False),  # what was read at the start is all there is
        ([1, 1], False),
        ([None, 1], True),
        ([1, None, 2], True),
        ([1, 2], True),  # another node had it in between, and nobody looked
        ([None, 1, 1], False),
    ],
)
def test_who_comes_to_it_from_another_node_begins_anew(history: list[int | None], begins: bool) -> None:
    watch, began = Watch(), False
    for fence in history:
        if fence is None:
            watch.leave()
        else:
            began = watch.take(fence)
    assert began == begins
    assert watch.is_new == (None in history or len(set(history)) > 1)
