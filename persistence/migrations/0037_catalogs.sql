-- Catalogs of heads and banner designs, each imported as a whole. All of it but `catalogs` is made by the import.

CREATE TABLE catalogs (
    slug  text    PRIMARY KEY,
    name  text    NOT NULL,
    kind  text    NOT NULL CHECK (kind IN ('head', 'banner')),
    items integer NOT NULL
);

CREATE TABLE catalog_items (
    id           text    PRIMARY KEY CHECK (length(id) = 24),
    catalog_slug text    NOT NULL REFERENCES catalogs ON DELETE CASCADE,
    -- The place in its catalog, from 0, by name: lists and draws count on there being no gaps.
    number       integer NOT NULL,
    name         text    NOT NULL,
    tags         text[]  NOT NULL,
    -- Of a head: the hash of its texture.
    texture      text,
    -- Of a banner; patterns: as in 0038.
    base_color   text,
    patterns     text,
    -- Name and tags as they are searched: lower-cased, U+001F between them.
    words        text    NOT NULL,
    UNIQUE (catalog_slug, number),
    CHECK ((texture IS NULL) = (patterns IS NOT NULL) AND (patterns IS NULL) = (base_color IS NULL))
);

-- Which items of a catalog have a run of characters in their words: all runs of up to three characters, and the longer
-- ones that many items have. Runs that the same items have share a list.
CREATE TABLE catalog_runs (
    catalog_slug text    NOT NULL REFERENCES catalogs ON DELETE CASCADE,
    run          text    COLLATE "C" NOT NULL,
    items        integer NOT NULL,
    list         integer NOT NULL,
    PRIMARY KEY (catalog_slug, run)
);

CREATE TABLE catalog_lists (
    catalog_slug text      NOT NULL REFERENCES catalogs ON DELETE CASCADE,
    list         integer   NOT NULL,
    -- Of the items, ascending.
    numbers      integer[] NOT NULL,
    PRIMARY KEY (catalog_slug, list)
);

-- Numbers do not compress, and trying takes longer than writing them; no query needs statistics of them.
ALTER TABLE catalog_lists ALTER COLUMN numbers SET STORAGE EXTERNAL;
ALTER TABLE catalog_lists ALTER COLUMN numbers SET STATISTICS 0;
