"""Users, their rights, and the data that they store, as rows."""
