"""Chat over HTTP and its live streams (service description §4 Chat, contract §4).

membership.py      who is let near a conversation, before anything is read or decoded
conversations.py   the list, creating, one conversation, its participants
messages.py        pages, posting, editing, deleting, revisions, read markers, typing, past events
polls.py           voting and closing
attachments.py     upload and download
streams.py         one conversation live, the inbox live
older.py           the live stream of an older page
again.py           answers to repeated requests
channels.py        chat's channels on /v1/social/live
said.py            chat's commands on /v1/social/live
"""
