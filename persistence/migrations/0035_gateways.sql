-- Gateways that carry players to game servers, and one revision of all routes. Times are epoch milliseconds.

CREATE TABLE gateways (
    gateway_id           text    PRIMARY KEY CHECK (length(gateway_id) = 24),
    region               text    NOT NULL,
    -- A name in lower-case A-labels, or an address.
    public_host          text    NOT NULL,
    port                 integer NOT NULL CHECK (port BETWEEN 1 AND 65535),
    capacity             integer NOT NULL CHECK (capacity >= 1),
    -- SHA-256.
    secret               bytea   NOT NULL CHECK (length(secret) = 32),
    online               boolean NOT NULL,
    -- Gets no routes, by the word of an admin.
    draining             boolean NOT NULL DEFAULT false,
    -- The revision from which on it gets the routes that it gets now: what it has confirmed before counts no longer.
    since_revision       bigint  NOT NULL DEFAULT 0,
    confirmed_revision   bigint  NOT NULL DEFAULT 0,
    connections          integer NOT NULL DEFAULT 0,
    last_heartbeat_at_ms bigint  NOT NULL,
    created_at_ms        bigint  NOT NULL,
    updated_at_ms        bigint  NOT NULL,
    UNIQUE (public_host, port)
);

CREATE INDEX gateways_offline ON gateways (last_heartbeat_at_ms) WHERE NOT online;

-- One row. 0 is what a gateway says that has no routes yet.
CREATE TABLE gateway_revision (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    revision bigint  NOT NULL
);

INSERT INTO gateway_revision (revision) VALUES (1);

-- `revision` is the one at which the route was changed last. Whether it is active follows from what gateways have
-- confirmed. `record_hosts` is what its A records were last asked to name.
ALTER TABLE gateway_routes
    DROP COLUMN status,
    ADD COLUMN revision     bigint NOT NULL DEFAULT 1,
    ADD COLUMN record_hosts text;

CREATE INDEX gateway_routes_by_age ON gateway_routes (created_at_ms, server_id);

CREATE FUNCTION gateway_route_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    taken bigint;
BEGIN
    UPDATE gateway_revision SET revision = revision + 1 RETURNING revision INTO taken;
    IF TG_OP <> 'DELETE' THEN
        UPDATE gateway_routes SET revision = taken WHERE server_id = NEW.server_id;
    END IF;
    RETURN NULL;
END
$$;

-- At COMMIT, so that no transaction waits for another while it holds the revision. Servers that are deleted take their
-- routes along, so the rule stands here.
CREATE CONSTRAINT TRIGGER gateway_route_made AFTER INSERT OR DELETE ON gateway_routes
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION gateway_route_changed();

CREATE CONSTRAINT TRIGGER gateway_route_moved
    AFTER UPDATE OF route_host, backend_host, backend_port, proxy_protocol, gateway_id ON gateway_routes
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.route_host, OLD.backend_host, OLD.backend_port, OLD.proxy_protocol, OLD.gateway_id)
          IS DISTINCT FROM (NEW.route_host, NEW.backend_host, NEW.backend_port, NEW.proxy_protocol, NEW.gateway_id))
    EXECUTE FUNCTION gateway_route_changed();
