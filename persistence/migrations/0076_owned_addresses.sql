-- What users have saved outlives the publication that it was saved as: nobody but they removes it, or has it name another
-- address.

-- A publication that users have saved goes on as its address alone, under the same id. A trigger, because game servers
-- and networks take their publications along without asking.
CREATE FUNCTION saved_publication_goes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM saved_servers WHERE server_id = OLD.id) THEN
        RETURN OLD;
    END IF;
    DELETE FROM publication_statuses WHERE publication_id = OLD.id;
    DELETE FROM discord_outbox WHERE publication_id = OLD.id;
    UPDATE publications SET
        server_id = NULL, network_id = NULL, address = OLD.address_key, display_name = OLD.address_key,
        discovery_source = 'USER', discovery_state = 'UNLISTED', ownership_state = 'UNCLAIMED', host = DEFAULT,
        category = DEFAULT, tags = DEFAULT, social_links = DEFAULT, motd_override = DEFAULT, hidden = DEFAULT,
        featured = DEFAULT, suppressed = DEFAULT, ownership_proof = DEFAULT, ownership_verified_at_ms = DEFAULT,
        words = DEFAULT, name_lower = DEFAULT
    WHERE id = OLD.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER saved_publication_goes BEFORE DELETE ON publications
    FOR EACH ROW EXECUTE FUNCTION saved_publication_goes();

ALTER TABLE saved_servers
    DROP CONSTRAINT saved_servers_server_id_fkey,
    ADD FOREIGN KEY (server_id) REFERENCES publications;

-- What was saved of a publication that has lost its address since is that address.
CREATE TEMP TABLE lost ON COMMIT DROP AS
SELECT p.id, p.address_key, p.updated_at_ms,
       lpad(to_hex(extract(epoch FROM now())::bigint), 8, '0')
           || left(replace(gen_random_uuid()::text, '-', ''), 16) AS address_id,
       (SELECT count(*) FROM saved_servers s WHERE s.server_id = p.id AND s.favorite) AS favorites
FROM publications p
WHERE p.ownership_state = 'LOST' AND EXISTS (SELECT FROM saved_servers s WHERE s.server_id = p.id);

INSERT INTO publications (id, address, display_name, discovery_source, discovery_state, ownership_state, created_at_ms,
                          updated_at_ms)
SELECT address_id, address_key, address_key, 'USER', 'UNLISTED', 'UNCLAIMED', updated_at_ms, updated_at_ms FROM lost;

UPDATE saved_servers s SET server_id = lost.address_id FROM lost WHERE s.server_id = lost.id;

INSERT INTO server_favorites (server_id, favorites) SELECT address_id, favorites FROM lost WHERE favorites > 0;

DELETE FROM server_favorites f USING lost WHERE f.server_id = lost.id;

-- What is proven by a gateway route is rechecked, as what is proven by a domain.
DROP INDEX publications_unproven;
CREATE INDEX publications_rechecked ON publications (id)
    WHERE ownership_state IN ('PENDING', 'LOST') OR ownership_proof IN ('domain', 'gateway');
