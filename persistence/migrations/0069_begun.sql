-- Since when the nodes of a database serve without a break: who was not online since went offline then, on every node.

ALTER TABLE cluster ADD COLUMN begun_at_ms bigint NOT NULL DEFAULT 0;
