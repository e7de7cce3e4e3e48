"""What other programs import of Partyline: the client. The server itself is no library."""
