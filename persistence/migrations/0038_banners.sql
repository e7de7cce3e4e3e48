-- Banners that users have designed. A banner never changes: its picture is drawn once, and goes with it.

CREATE TABLE banners (
    id            text   PRIMARY KEY CHECK (length(id) = 24),
    owner_id      text   NOT NULL REFERENCES users ON DELETE CASCADE,
    name          text   NOT NULL,
    base_color    text   NOT NULL,
    -- JSON array of {pattern, color}, the lowest first.
    patterns      text   NOT NULL,
    picture       bytea  NOT NULL CHECK (octet_length(picture) <= 16384),
    created_at_ms bigint NOT NULL
);

CREATE INDEX banners_by_owner ON banners (owner_id, created_at_ms DESC, id DESC);
