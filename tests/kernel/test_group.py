"""Keys of groups: what thousands of channels have in common is there once."""

from actors.kernel.group import SHARED_KEYS, group_key
from tests.support.sinks import JsonEnvelope


def test_keys_without_an_audience_are_shared() -> None:
    envelope = JsonEnvelope()
    key = group_key("friends", envelope, True, None)
    assert group_key("friends", envelope, True, None) is key
    assert group_key("friends", envelope, False, None) == key._replace(delta=False)
    assert group_key("friends", JsonEnvelope(), True, None) != key


def test_a_key_that_was_forgotten_is_equal_to_its_next() -> None:
    envelope = JsonEnvelope()
    key = group_key("friends", envelope, True, None)
    for number in range(SHARED_KEYS):
        group_key(f"view {number}", envelope, True, None)
    again = group_key("friends", envelope, True, None)
    assert again == key
    assert again is not key


def test_an_audience_is_kept_for_nobody_else() -> None:
    envelope = JsonEnvelope()
    key = group_key("conversation:1", envelope, True, ("votes",))
    assert group_key("conversation:1", envelope, True, ("votes",)) == key
    assert group_key("conversation:1", envelope, True, ("votes",)) is not key
