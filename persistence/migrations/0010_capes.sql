-- Capes: uploads and their moderation, what users have selected, and the terms that they accepted.
-- Times are epoch milliseconds. No extensions: substrings are found by arrays of their trigrams.

-- All runs of one, two and three characters of a text, so that a search text of any length has its own among them.
CREATE FUNCTION cape_grams(words text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
    SELECT array_agg(DISTINCT gram COLLATE "C") FROM (
        SELECT unnest(ARRAY[one, one || two, one || two || three]) AS gram FROM (
            SELECT one, lead(one) OVER place AS two, lead(one, 2) OVER place AS three
            FROM unnest(string_to_array(words, NULL)) WITH ORDINALITY AS letter (one, nth)
            WINDOW place AS (ORDER BY nth)
        ) AS runs
    ) AS grams WHERE gram IS NOT NULL
$$;

CREATE TABLE capes (
    id              text   PRIMARY KEY CHECK (length(id) = 36),
    owner_id        text   NOT NULL REFERENCES users ON DELETE CASCADE,
    -- The owner's name, kept in step by the trigger below: the catalog is searched by it.
    creator         text   NOT NULL,
    name            text   NOT NULL,
    description     text   NOT NULL,
    status          text   NOT NULL CHECK (status IN ('draft', 'pending', 'approved', 'private', 'blocked')),
    -- SHA-256 of the texture: its version.
    texture_sha256  bytea  NOT NULL CHECK (length(texture_sha256) = 32),
    downloads       bigint NOT NULL DEFAULT 0,
    created_at_ms   bigint NOT NULL,
    updated_at_ms   bigint NOT NULL,
    approved_at_ms  bigint,
    -- What moderators last said.
    reason          text,
    moderator_id    text,
    moderated_at_ms bigint,
    -- What is searched, lower-cased by the server (Unicode rules do not hang on the cluster's locale); U+001F between
    -- the parts, which no name has.
    words           text   NOT NULL,
    creator_lower   text   NOT NULL,
    CHECK ((status = 'approved') = (approved_at_ms IS NOT NULL))
) WITH (fillfactor = 90);

CREATE INDEX capes_by_owner ON capes (owner_id, created_at_ms DESC, id DESC);
CREATE INDEX capes_by_age ON capes (created_at_ms DESC, id DESC);
CREATE INDEX capes_by_status ON capes (status, created_at_ms DESC, id DESC);
CREATE INDEX capes_in_catalog ON capes (approved_at_ms DESC, id DESC) WHERE status = 'approved';
-- Written seldom, read often: nothing waits in a pending list. The grams are in the index alone: beside a row they would
-- make it four times as long. Nobody needs statistics about them, which would be dear to make.
CREATE INDEX capes_by_grams ON capes USING gin (cape_grams(words || chr(31) || creator_lower))
    WITH (fastupdate = off) WHERE status = 'approved';
ALTER INDEX capes_by_grams ALTER COLUMN 1 SET STATISTICS 0;

-- Approved capes with a text in them; grams: the text's own, at most three letters long (persistence/capes/catalog.py).
-- Only ever by the index on grams: any other plan would make the grams of every row.
CREATE FUNCTION capes_with(grams text[], sought text) RETURNS TABLE (id text, approved_at_ms bigint)
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_indexscan = off AS $$
    SELECT cape.id, cape.approved_at_ms FROM capes AS cape
    WHERE status = 'approved' AND cape_grams(words || chr(31) || creator_lower) @> $1
        AND (length($2) <= 3 OR strpos(words, $2) > 0 OR strpos(creator_lower, $2) > 0)
$$;

CREATE FUNCTION count_capes_with(grams text[], sought text) RETURNS bigint
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_indexscan = off AS $$
    SELECT count(*) FROM capes AS cape
    WHERE status = 'approved' AND cape_grams(words || chr(31) || creator_lower) @> $1
        AND (length($2) <= 3 OR strpos(words, $2) > 0 OR strpos(creator_lower, $2) > 0)
$$;

-- The pictures, as we encoded them; apart, so that lists read small rows.
CREATE TABLE cape_pictures (
    cape_id text  PRIMARY KEY REFERENCES capes ON DELETE CASCADE,
    texture bytea NOT NULL CHECK (length(texture) <= 32768),
    preview bytea NOT NULL CHECK (length(preview) <= 65536)
);

-- How many capes have each status: counting 100,000 rows for every page would cost more than the page.
CREATE TABLE cape_counts (
    status text   PRIMARY KEY,
    number bigint NOT NULL
);

INSERT INTO cape_counts (status, number)
VALUES ('draft', 0), ('pending', 0), ('approved', 0), ('private', 0), ('blocked', 0);

-- A trigger, because rows go by themselves when their owner does. One statement locks the counts in order.
CREATE FUNCTION cape_count_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cape_count_move((SELECT array_agg(status) FROM new_rows), NULL);
    RETURN NULL;
END $$;

CREATE FUNCTION cape_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cape_count_move(NULL, (SELECT array_agg(status) FROM old_rows));
    RETURN NULL;
END $$;

CREATE FUNCTION cape_count_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cape_count_move(
        (SELECT array_agg(status) FROM new_rows), (SELECT array_agg(status) FROM old_rows));
    RETURN NULL;
END $$;

CREATE FUNCTION cape_count_move(come text[], gone text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    move record;
BEGIN
    FOR move IN
        SELECT one, sum(way) AS change FROM (
            SELECT unnest(come) AS one, 1 AS way UNION ALL SELECT unnest(gone), -1
        ) AS moves GROUP BY one HAVING sum(way) <> 0 ORDER BY one
    LOOP
        UPDATE cape_counts SET number = number + move.change WHERE status = move.one;
    END LOOP;
END $$;

CREATE TRIGGER capes_counted_in AFTER INSERT ON capes REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION cape_count_insert();
CREATE TRIGGER capes_counted_out AFTER DELETE ON capes REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION cape_count_delete();
CREATE TRIGGER capes_counted_over AFTER UPDATE ON capes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION cape_count_update();

CREATE FUNCTION cape_creator_renamed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE capes SET creator = NEW.name, creator_lower = NEW.name_lower WHERE owner_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER cape_creators_renamed AFTER UPDATE OF name ON users
    FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION cape_creator_renamed();

CREATE TABLE cape_selections (
    user_id       text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    native_id     text   REFERENCES capes ON DELETE CASCADE,
    -- Held by the launcher; nothing here has it.
    external_id   text   CHECK (length(external_id) = 36),
    updated_at_ms bigint NOT NULL,
    CHECK (num_nonnulls(native_id, external_id) = 1)
);

CREATE INDEX cape_selections_by_cape ON cape_selections (native_id) WHERE native_id IS NOT NULL;

CREATE TABLE cape_terms (
    user_id        text   NOT NULL REFERENCES users ON DELETE CASCADE,
    revision       int    NOT NULL,
    accepted_at_ms bigint NOT NULL,
    PRIMARY KEY (user_id, revision)
);
