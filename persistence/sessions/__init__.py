"""Sessions of users, links that sign in, and identities at other issuers, as rows."""
