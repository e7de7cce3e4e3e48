-- Publications: what servers and networks make public of themselves, and the public list. Times are epoch milliseconds.
-- A publication without a target is an address that somebody has saved.

ALTER TABLE publications
    SET (fillfactor = 90),
    ADD COLUMN server_id                text    UNIQUE REFERENCES connect_servers ON DELETE CASCADE,
    ADD COLUMN network_id               text    UNIQUE REFERENCES networks ON DELETE CASCADE,
    ADD COLUMN target_id                text    UNIQUE GENERATED ALWAYS AS (coalesce(server_id, network_id)) STORED,
    -- The address is kept as it is shown; this is the same for all who mean the same server.
    ADD COLUMN address_key              text    NOT NULL
        GENERATED ALWAYS AS (regexp_replace(address, ':25565$', '')) STORED,
    -- Of the address, in its one form.
    ADD COLUMN host                     text    NOT NULL DEFAULT '',
    ADD COLUMN category                 text    NOT NULL DEFAULT '',
    ADD COLUMN tags                     text[]  NOT NULL DEFAULT '{}',
    -- JSON.
    ADD COLUMN social_links             text    NOT NULL DEFAULT '[]',
    ADD COLUMN motd_override            text,
    ADD COLUMN hidden                   boolean NOT NULL DEFAULT false,
    ADD COLUMN featured                 boolean NOT NULL DEFAULT false,
    ADD COLUMN suppressed               boolean NOT NULL DEFAULT false,
    -- What the address was last known to be the target's by.
    ADD COLUMN ownership_proof          text    CHECK (ownership_proof IN ('gateway', 'caller', 'domain')),
    ADD COLUMN ownership_verified_at_ms bigint,
    -- What is searched and sorted by, lower-cased by the server; U+001F between the parts, which no part has.
    ADD COLUMN words                    text    NOT NULL DEFAULT '',
    ADD COLUMN name_lower               text    NOT NULL DEFAULT '' COLLATE "C",
    ADD CHECK (discovery_source IN ('CONNECT', 'USER', 'IMPORT')),
    ADD CHECK (discovery_state IN ('CONNECT', 'UNLISTED', 'STALE', 'SUPPRESSED')),
    ADD CHECK (ownership_state IN ('UNCLAIMED', 'PENDING', 'OWNED', 'LOST')),
    ADD CHECK (num_nonnulls(server_id, network_id) <= 1);

DROP INDEX publications_by_address;
CREATE INDEX publications_by_address ON publications (address_key);
CREATE INDEX publications_unproven ON publications (id)
    WHERE ownership_state IN ('PENDING', 'LOST') OR ownership_proof = 'domain';
CREATE INDEX publications_by_age ON publications (created_at_ms DESC, id DESC) WHERE discovery_state = 'CONNECT';
CREATE INDEX publications_by_name ON publications (name_lower, id) WHERE discovery_state = 'CONNECT';

-- What a list is filtered by: all runs of one to three characters, and tags and category behind a U+001E or U+001D.
CREATE FUNCTION publication_keys(words text, tags text[], category text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
    SELECT array_agg(DISTINCT key COLLATE "C") FROM (
        SELECT unnest(ARRAY[one, one || two, one || two || three]) AS key FROM (
            SELECT one, lead(one) OVER place AS two, lead(one, 2) OVER place AS three
            FROM unnest(string_to_array(words, NULL)) WITH ORDINALITY AS letter (one, nth)
            WINDOW place AS (ORDER BY nth)
        ) AS runs
        UNION ALL SELECT chr(30) || tag FROM unnest(tags) AS tag
        UNION ALL SELECT chr(29) || category
    ) AS keys WHERE key IS NOT NULL
$$;

CREATE INDEX publications_by_keys ON publications USING gin (publication_keys(words, tags, category))
    WITH (fastupdate = off) WHERE discovery_state = 'CONNECT';
ALTER INDEX publications_by_keys ALTER COLUMN 1 SET STATISTICS 0;

-- Listed publications that have all these keys, and the text in their words; at most so many. Only ever by the index on
-- keys: any other plan would make the keys of every row.
CREATE FUNCTION publications_with(wanted text[], sought text, most integer) RETURNS TABLE (id text)
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_indexscan = off AS $$
    SELECT p.id FROM publications AS p
    WHERE p.discovery_state = 'CONNECT' AND publication_keys(p.words, p.tags, p.category) @> $1
        AND (length($2) <= 3 OR strpos(p.words, $2) > 0)
    LIMIT $3
$$;

-- What is sorted by, as of the last second: apart, so that a status moves a narrow row. Read for nothing else.
CREATE TABLE publication_statuses (
    publication_id text    PRIMARY KEY REFERENCES publications ON DELETE CASCADE,
    players        bigint  NOT NULL DEFAULT 0,
    -- The last status, or the publication itself: older than seven days is stale.
    seen_at_ms     bigint  NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX publication_statuses_by_players ON publication_statuses (players DESC, publication_id DESC);

-- What servers last said of themselves, as of the last second: read at the start alone.
CREATE TABLE server_statuses (
    server_id  text    PRIMARY KEY REFERENCES connect_servers ON DELETE CASCADE,
    online     boolean NOT NULL,
    motd       text    NOT NULL,
    players    integer NOT NULL,
    capacity   integer NOT NULL,
    at_ms      bigint  NOT NULL
) WITH (fillfactor = 80);

-- Publications as they are read.
CREATE VIEW published AS
SELECT p.id, p.server_id, p.network_id, p.target_id, coalesce(p.network_id, c.network_id) AS within_id, p.address,
       p.host, p.display_name, p.category, p.tags, p.social_links, p.motd_override, p.hidden, p.featured, p.suppressed,
       p.discovery_source, p.discovery_state, p.ownership_state, p.ownership_proof, p.ownership_verified_at_ms,
       p.created_at_ms, p.updated_at_ms, coalesce(s.seen_at_ms, p.created_at_ms) AS seen_at_ms,
       p.words, p.name_lower, s.publication_id AS ranked_id, s.players,
       coalesce(f.favorites, 0) AS favorites
FROM publications p
LEFT JOIN publication_statuses s ON s.publication_id = p.id
LEFT JOIN connect_servers c ON c.server_id = p.server_id
LEFT JOIN server_favorites f ON f.server_id = p.id;
