-- Why a moderator has settled a report the way they did.

ALTER TABLE reports ADD COLUMN settled_reason text CHECK (settled_reason IS NULL OR settled_by IS NOT NULL);
