"""Rows of chat: conversations and members, messages and what hangs on them, attachments, the archive."""
