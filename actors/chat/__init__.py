"""Conversations: their messages, polls, members, read markers, and the inbox that shows a user all of theirs.

One conversation is one owner (`conversation.py`), a user's inbox is a view (`inbox.py`). What is refused and
what happens is decided in `rules_*.py`, what has happened lives in `events.py`, and `frames.py` makes the
bytes.
"""
