-- Indexes that pruning walks: what is overdue is found without a look at the rest, and pages go on where they ended.

DROP INDEX publications_of_users;
CREATE INDEX publications_of_users ON publications (created_at_ms, id)
    WHERE discovery_source = 'USER' AND discovery_state = 'UNLISTED';

DROP INDEX connect_servers_fleeting;
CREATE INDEX connect_servers_fleeting ON connect_servers (last_seen_at_ms, server_id)
    WHERE owner_id IS NULL OR temporary;

DROP INDEX connect_commands_by_end;
CREATE INDEX connect_commands_by_end ON connect_commands (finished_at_ms, id) WHERE finished_at_ms IS NOT NULL;

DROP INDEX erased_users_unswept;
CREATE INDEX erased_users_unswept ON erased_users (erased_at_ms, user_id) WHERE NOT swept;
