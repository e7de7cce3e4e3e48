"""Friends: who they are, what they see of each other, and how it is kept up to date before them.

moves.py        what may become of what is between two users
relations.py    these moves, each a transaction
links.py        what a user chooses for a friend
visibility.py   who hides what from whom
overview.py     a user's friends, as they or another user may see them
streaks.py      on which days two were in touch
faces.py        how a user appears to those who watch them
state.py        what memory holds of one user's friends
frames.py       the bytes of the live friends
view.py         a user's friends as a view
live.py         the parts of these, told of each change
public.py       what clients see of all this
"""
