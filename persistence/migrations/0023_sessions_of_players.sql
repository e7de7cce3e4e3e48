-- Players see the servers that act for them, and end that; and what a user leaves behind is found when they are erased.

CREATE INDEX connect_sessions_by_user ON connect_sessions (user_id);
CREATE INDEX connect_tickets_by_user ON connect_tickets (user_id);
