-- History that has been told otherwise since: no snapshot from before that may come back.

ALTER TABLE heads ADD COLUMN snapshots_from bigint NOT NULL DEFAULT 0;

-- What conversations were told before kept the texts of messages that were edited or deleted since. Rows have what is
-- true; clients that come back take a fresh page, as after any week.
DELETE FROM events WHERE kind = 'conversation';
DELETE FROM snapshots WHERE kind = 'conversation';
