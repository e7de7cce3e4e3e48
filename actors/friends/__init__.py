"""Friends: who they are, what they see of each other, and how it is kept up to date before them.

moves.py            the table of moves between two users: request, accept, remove, block …
units_relations.py  each move as a unit of work
units_links.py      what a user chooses for a friend: favourite, visibility, note
between.py          how two users stand, read while both are locked
events.py           what moves yield, for the live side and for other domains
circles.py          who is a friend of whom, in memory, for those with an open socket
visibility.py       who hides what from whom, in memory
watched_users.py    how a user appears to those who watch them
overview.py         the answers of REST: a user's friends, for themselves and for others
streaks.py          on which days two users were in touch
state.py            what memory holds of one user's friends and requests
frames.py           the JSON of the live frames
view.py             a user's friends as a live view of the kernel
live.py             the live side as a whole: asked by other domains, told of each change
public.py           the structs that clients see
"""
