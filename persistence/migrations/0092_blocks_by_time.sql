-- expands
-- The jobs that look for what a block has left over ask for new blocks alone: those that are older than every invite, or
-- every stay on a game server, can have left nothing.

CREATE INDEX blocks_by_time ON blocks (created_at_ms);
