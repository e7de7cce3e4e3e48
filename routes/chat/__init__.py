"""Chat over HTTP and its live streams (service description §4 Chat, contract §4).

guards.py            who may access a conversation, decided before the body is read or decoded
conversations.py     the list, creating, one conversation, its participants
messages.py          pages, posting, editing, deleting, revisions, read markers, typing, past events
polls.py             voting and closing
attachments.py       upload and download
reads.py             what GETs answer, from live state or from rows
streams.py           one conversation live, the inbox live
page_watch.py        the live stream of an older page
again.py             answers to repeated requests
channels.py          the channels of chat on /v1/social/live
socket_commands.py   the commands of chat on /v1/social/live
"""
