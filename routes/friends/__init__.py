"""Friends over HTTP and live (service description §4 Friends, contract §5).

lists.py      friends, requests, and the friends of others
requests.py   sending and answering requests
links.py      what one chooses for a friend, and ending a friendship
blocks.py     blocking
actions.py    the same for whoever acts: a player, or a game server for one
reactions.py  what memory makes of what happens between users in rows
streams.py    friends live
channels.py   the channel of friends on /v1/social/live
"""
