-- Lists of operators: all game servers, and all publications, by name.

-- Lower-cased by the server, as the names of users are; names of game servers never change.
ALTER TABLE connect_servers ADD COLUMN name_lower text NOT NULL DEFAULT '' COLLATE "C";
UPDATE connect_servers SET name_lower = lower(name);

CREATE INDEX connect_servers_by_name ON connect_servers (name_lower, server_id);

CREATE INDEX publications_of_all_by_name ON publications (name_lower, id);
CREATE INDEX publications_by_state ON publications (discovery_state, name_lower, id);
