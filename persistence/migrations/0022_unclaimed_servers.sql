-- Servers that nobody has claimed are counted whenever another one is registered: there is a bound on all of them.

CREATE INDEX connect_servers_unclaimed ON connect_servers (server_id) WHERE owner_id IS NULL;
