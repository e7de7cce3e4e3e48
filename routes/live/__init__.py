"""Live sockets: `/v1/social/live`, one socket for everything, and what single-purpose streams share with it.

channel.py    what a channel is; domains declare theirs
channels.py   the table of channels
command.py    what a command is; domains declare theirs
commands.py   the table of commands, and the decoding of messages
session.py    one socket: its subscriptions, its commands in flight, its replies
social.py     the endpoint
single.py     single-purpose streams: one channel, its snapshots bare
rights.py     rechecks open sockets when their user's rights have changed
pace.py       the rate limit of commands on a socket
"""
