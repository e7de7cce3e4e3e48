-- What the kept events of an actor take, in bytes as they are encoded. Turns add to it, and only trimming takes away
-- what was pruned by age, so that it is never too small.

ALTER TABLE heads ADD COLUMN journal_bytes bigint NOT NULL DEFAULT 0;

UPDATE heads SET journal_bytes = kept.bytes
FROM (SELECT kind, id, sum(octet_length(event)) AS bytes FROM events GROUP BY kind, id) AS kept
WHERE heads.kind = kept.kind AND heads.id = kept.id;
