-- Totems: models that users have uploaded, and the one that each of them carries. Ids and times as in 0002.

CREATE TABLE totem_models (
    id                 text PRIMARY KEY CHECK (length(id) = 24),
    owner_id           text NOT NULL REFERENCES users ON DELETE CASCADE,
    file_name          text NOT NULL,
    -- file_name lower-cased by the server: what the gallery is sorted by, whatever the cluster's locale.
    name_key           text COLLATE "C" NOT NULL,
    format             text NOT NULL CHECK (format IN ('minecraft-item-model', 'blockbench')),
    rating_content     text NOT NULL CHECK (rating_content IN ('sfw', 'nsfw', 'nsfl')),
    rating_age         smallint NOT NULL CHECK (rating_age IN (0, 16, 18, 21)),
    -- NULL = the owner's own name, as it is when it is shown.
    author_name        text,
    author_description text,
    created_at_ms      bigint NOT NULL,
    last_used_at_ms    bigint NOT NULL,
    selected_count     integer NOT NULL DEFAULT 0 CHECK (selected_count >= 0),
    CHECK (rating_content = 'sfw' OR rating_age >= 16)
);

-- The gallery's orders, each read in both directions, and from the index alone up to the page itself.
CREATE INDEX totem_models_by_selected ON totem_models (selected_count, id);
CREATE INDEX totem_models_by_created ON totem_models (created_at_ms, id);
CREATE INDEX totem_models_by_last_used ON totem_models (last_used_at_ms, id);
CREATE INDEX totem_models_by_name ON totem_models (name_key, id);
CREATE INDEX totem_models_by_owner ON totem_models (owner_id, created_at_ms, id);

-- Apart from the models, whose rows stay small for lists. JSON, as it is served; immutable.
CREATE TABLE totem_contents (
    model_id text PRIMARY KEY REFERENCES totem_models ON DELETE CASCADE,
    content  bytea NOT NULL
);

CREATE TABLE totem_selections (
    user_id        text PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    model_id       text NOT NULL REFERENCES totem_models ON DELETE CASCADE,
    selected_at_ms bigint NOT NULL
);

CREATE INDEX totem_selections_by_model ON totem_selections (model_id);

-- How many models there are: counting 100,000 of them for each page would take longer than the page.
CREATE TABLE totem_gallery (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    total     bigint NOT NULL
);

INSERT INTO totem_gallery (total) VALUES (0);

-- Both counts are kept by triggers, because users take their models and selections with them when they go (CASCADE).
CREATE FUNCTION totem_selected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE totem_models SET selected_count = selected_count - 1 WHERE id = OLD.model_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE totem_models SET selected_count = selected_count + 1 WHERE id = NEW.model_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER totem_selected AFTER INSERT OR DELETE OR UPDATE OF model_id ON totem_selections
    FOR EACH ROW EXECUTE FUNCTION totem_selected();

CREATE FUNCTION totem_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE totem_gallery SET total = total + CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    RETURN NULL;
END $$;

-- At the very end of a transaction: everybody's uploads meet in this one row, and hold it for a moment only.
CREATE CONSTRAINT TRIGGER totem_counted AFTER INSERT OR DELETE ON totem_models
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION totem_counted();
