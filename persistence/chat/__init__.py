"""Rows of chat: conversations and members, messages and their revisions, votes and mentions,
attachments, the archive.
"""
