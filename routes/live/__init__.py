"""Live sockets: `/v1/social/live`, one socket for everything, and what single-purpose streams share with it.

channel.py    what a channel is; domains declare theirs
channels.py   the table of those that are served
command.py    what a command is; domains declare theirs
commands.py   the table of those that are understood, and how a message becomes one
session.py    one socket: its subscriptions, its commands in flight, its replies
social.py     the endpoint
single.py     single-purpose streams: one channel, its snapshots bare
rights.py     asks again what the owners of open sockets may see, when their rights have moved
pace.py       how many commands a socket may send
"""
