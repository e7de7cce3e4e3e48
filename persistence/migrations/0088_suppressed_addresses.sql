-- expands
-- What a moderator has suppressed outlives the publication, so that nobody lists its address again by removing the game
-- server and publishing another one: it goes on as the address alone. A trigger, because game servers and networks take
-- their publications along without asking.

CREATE FUNCTION address_stays_suppressed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- Suppressed where somebody had published it without proof: that says nothing against whoever has one.
    alone text := CASE WHEN OLD.ownership_state IN ('PENDING', 'LOST') THEN 'PENDING' ELSE 'UNCLAIMED' END;
BEGIN
    IF OLD.suppressed AND OLD.target_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM publications WHERE address_key = OLD.address_key AND suppressed AND target_id IS NULL
            AND ownership_state IN (alone, 'UNCLAIMED')
    ) THEN
        INSERT INTO publications (id, address, display_name, discovery_source, discovery_state, ownership_state,
                                  suppressed, created_at_ms, updated_at_ms)
        VALUES (lpad(to_hex(extract(epoch FROM now())::bigint), 8, '0')
                    || left(replace(gen_random_uuid()::text, '-', ''), 16),
                OLD.address_key, OLD.address_key, 'USER', 'SUPPRESSED', alone, true, OLD.created_at_ms,
                OLD.updated_at_ms);
    END IF;
    RETURN OLD;
END
$$;

-- Triggers fire by their names: before that by which what is saved goes on, after which the row goes no longer.
CREATE TRIGGER address_stays_suppressed BEFORE DELETE ON publications
    FOR EACH ROW EXECUTE FUNCTION address_stays_suppressed();
