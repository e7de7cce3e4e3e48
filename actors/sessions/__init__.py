"""Sessions of users: how long they last, what they must not outlive, and who may end whose."""
