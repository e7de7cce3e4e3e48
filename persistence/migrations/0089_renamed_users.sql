-- expands
-- When a user was last given another name, epoch milliseconds: a process that did not hear of new names for a while
-- reads who has one. NULL where that was before the column was there, or never.

ALTER TABLE users ADD COLUMN renamed_at_ms bigint;
CREATE INDEX users_renamed ON users (renamed_at_ms, id) WHERE renamed_at_ms IS NOT NULL;
