"""Conversations: their messages, polls, members, read markers, and the inbox that shows a user all of theirs.

One conversation is one actor (`kind.py`), a user's inbox is a view (`inbox.py`). `rules_*.py` decide what a command
leads to or why it is refused, `events.py` lists what can happen, and `frames.py` renders the bytes.
"""
