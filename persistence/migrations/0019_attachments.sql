-- What users have on the disk: a row speaks for its bytes from before they are written until they are gone.

ALTER TABLE attachments
    ADD COLUMN state text NOT NULL DEFAULT 'kept' CHECK (state IN ('reserved', 'kept', 'freed', 'gone')),
    ALTER COLUMN sha256 DROP NOT NULL;

DROP INDEX attachments_by_uploader;
DROP INDEX attachments_by_content;
DROP INDEX attachments_unused;

CREATE INDEX attachments_by_uploader ON attachments (uploader_id) INCLUDE (size_bytes, state, created_at_ms);
CREATE INDEX attachments_by_content ON attachments (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX attachments_unused ON attachments (created_at_ms)
    WHERE used_at_ms IS NULL AND state IN ('reserved', 'kept');
CREATE INDEX attachments_freed ON attachments (id) WHERE state = 'freed';
CREATE INDEX attachments_gone ON attachments (created_at_ms) WHERE state = 'gone';
