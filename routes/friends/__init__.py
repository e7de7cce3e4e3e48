"""Friends over HTTP and live (service description §4 Friends, contract §5).

lists.py      friends, requests, and the friends of others
requests.py   sending and answering requests
links.py      a user's settings for a friend, and ending a friendship
blocks.py     blocking
actions.py    what these routes do, for a user or for a game server that acts for one
reactions.py  reactions of memory to committed changes between users
streams.py    friends live
channels.py   the channel of friends on /v1/social/live
"""
