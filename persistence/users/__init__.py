"""Users, their rights and what they keep with us, as rows."""
