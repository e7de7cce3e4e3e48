-- expands
-- Until when an erasure is one node's to finish (epoch milliseconds, by the clock of the database): a run that goes on
-- after another has finished it would take the user, who may have come back, out of what they have begun since.
ALTER TABLE erased_users ADD COLUMN finishing_until_ms bigint NOT NULL DEFAULT 0;
