"""What others import of Partyline; the server itself is no library."""
