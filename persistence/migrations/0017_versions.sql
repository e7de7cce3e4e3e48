-- Counts the turns of an actor, also those that append nothing to its journal: each turn names the one that it was
-- decided on, so that nothing is written over a commit of which its actor never heard.

ALTER TABLE heads ADD COLUMN version bigint NOT NULL DEFAULT 0;
