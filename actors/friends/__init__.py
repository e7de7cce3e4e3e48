"""Friends: who they are, what they see of each other, and how it is kept up to date before them.

visibility.py   who hides what from whom
faces.py        how a user appears to those who watch them
frames.py       the bytes of the live friends
view.py         a user's friends as a view
live.py         the parts of these, told of each change
"""
