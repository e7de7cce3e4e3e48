-- A gateway route stands on a verified domain of its server's network, or lies below the gateway domain, which nobody can
-- claim. Routes of servers that had left the network stayed, whoever got the domain afterwards.

-- A host's domains: itself, and all above it.
CREATE FUNCTION domains_of_host(host text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(array_to_string(labels[place:], '.'))
    FROM string_to_array(host, '.') AS labels, generate_subscripts(labels, 1) AS place
$$;

-- The servers stay as they are when a network is removed. They are locked first, so that no route is put meanwhile.
CREATE FUNCTION network_goes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM connect_servers WHERE network_id = OLD.network_id ORDER BY server_id FOR UPDATE;
    DELETE FROM gateway_routes r USING connect_servers s
    WHERE s.server_id = r.server_id AND s.network_id = OLD.network_id AND EXISTS (
        SELECT FROM network_domains d WHERE d.network_id = s.network_id AND d.status = 'verified'
        AND d.domain = ANY (domains_of_host(r.route_host)));
    RETURN OLD;
END
$$;

CREATE TRIGGER network_goes BEFORE DELETE ON networks FOR EACH ROW EXECUTE FUNCTION network_goes();

-- Inside a domain that a network has verified, and not the server's own.
DELETE FROM gateway_routes r USING connect_servers s
WHERE s.server_id = r.server_id
AND EXISTS (
    SELECT FROM network_domains d WHERE d.status = 'verified' AND d.domain = ANY (domains_of_host(r.route_host)))
AND NOT EXISTS (
    SELECT FROM network_domains d WHERE d.network_id = s.network_id AND d.status = 'verified'
    AND d.domain = ANY (domains_of_host(r.route_host)));
