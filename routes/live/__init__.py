"""Live sockets: `/v1/social/live`, one socket for everything, and what the single-purpose streams share with
it.

rights.py     asks again what the owners of open sockets may see, when their rights have moved
pace.py       how many commands a socket may send
channels.py   what a channel is, and the table of those that are served
commands.py   what a client can say, and the table of who answers it
session.py    one socket: its subscriptions and replies
social.py     the endpoint
"""
