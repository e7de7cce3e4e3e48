"""The window of newest messages: versions that share a list see each their own part of it."""

from hypothesis import given
from hypothesis import strategies as st

from actors.chat.window import NO_MESSAGES, PASSED_LINES, WINDOW_LINES, Line, Window


def a_line(number: int, *, sender: str = "ann", client_id: str | None = None, record: bytes = b"{}") -> Line:
    return Line(f"m{number}", number, number, sender, client_id, record)


def grown(count: int) -> Window:
    window = NO_MESSAGES
    for number in range(1, count + 1):
        window = window.with_newest(a_line(number, client_id=f"c{number}"))
    return window


def test_it_keeps_the_newest():
    window = grown(WINDOW_LINES + 5)
    assert len(window) == WINDOW_LINES
    assert [line.seq for line in window] == list(range(6, WINDOW_LINES + 6))
    assert [line.seq for line in reversed(window)] == list(range(WINDOW_LINES + 5, 5, -1))
    assert (window[0].seq, window[-1].seq) == (6, WINDOW_LINES + 5)
    assert [line.seq for line in window[-3:]] == [WINDOW_LINES + 3, WINDOW_LINES + 4, WINDOW_LINES + 5]
    assert len(NO_MESSAGES) == 0


def test_it_equals_any_sequence_of_the_same_lines():
    window = grown(3)
    assert window == [a_line(number, client_id=f"c{number}") for number in (1, 2, 3)]
    assert window == Window(window)
    assert window != grown(4)
    assert window != [a_line(1), a_line(2), a_line(3)]
    assert window != "abc"
    assert "m2" in repr(window)


def test_an_older_version_may_go_on_elsewhere():
    """As it does when a turn was not committed."""
    base = grown(10)
    lost = base.with_newest(a_line(11, client_id="lost"))
    kept = base.with_newest(a_line(11, client_id="kept"))
    assert [line.client_message_id for line in lost][-1] == "lost"
    assert [line.client_message_id for line in kept][-1] == "kept"
    assert len(base) == 10
    assert base.said("ann", "lost") is None
    assert kept.said("ann", "lost") is None
    assert lost.said("ann", "lost") == lost[-1]


def test_what_was_said_is_found_by_its_sender_and_id():
    window = grown(2).with_newest(a_line(3, sender="bob", client_id="c1"))
    found = [window.said(sender, id) for sender, id in (("ann", "c1"), ("bob", "c1"), ("ann", "c3"))]
    assert found == [window[0], window[2], None]
    assert window.said("bob", "c2") is None
    # What another version said under the same id hides nothing.
    window.with_newest(a_line(4, sender="cid", client_id="c2"))
    assert window.said("ann", "c2") == window[1]


def test_what_has_left_is_not_found():
    window = grown(WINDOW_LINES + 1)
    assert window.said("ann", "c1") is None
    assert window.said("ann", "c2") == window[0]


def test_a_changed_line_takes_its_place():
    before = grown(3)
    after = before.with_changed(a_line(2, client_id="c2", record=b"changed"))
    assert [line.record for line in after] == [b"{}", b"changed", b"{}"]
    assert before[1].record == b"{}"
    assert after.with_changed(a_line(9)) == after


def test_what_has_left_is_let_go():
    window = grown(3 * WINDOW_LINES)
    assert len(window._lines) <= WINDOW_LINES + PASSED_LINES


@given(st.lists(st.sampled_from(["add", "fork", "change"]), max_size=300))
def test_versions_behave_like_copies(steps: list[str]):
    window, copy = NO_MESSAGES, [*NO_MESSAGES]
    older: list[tuple[Window, list[Line]]] = []
    for number, step in enumerate(steps, 1):
        if step == "fork":
            window.with_newest(a_line(number, client_id=f"c{number % 7}"))
        elif step == "change" and copy:
            line = a_line(copy[len(copy) // 2].seq, record=b"%d" % number)
            window, copy = window.with_changed(line), [line if one.id == line.id else one for one in copy]
        else:
            line = a_line(number, client_id=f"c{number % 7}")
            window, copy = window.with_newest(line), [*copy, line][-WINDOW_LINES:]
        older.append((window, copy))
    for window, copy in older[-40:]:
        assert window == copy
        for id in range(7):
            said = [line for line in copy if line.client_message_id == f"c{id}"]
            assert window.said("ann", f"c{id}") == (said[-1] if said else None)
