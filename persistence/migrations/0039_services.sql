-- What users run on all of their game servers: one extension each.

CREATE TABLE services (
    service_id     text   PRIMARY KEY CHECK (length(service_id) = 24),
    owner_id       text   NOT NULL REFERENCES users ON DELETE CASCADE,
    extension_id   text   NOT NULL REFERENCES connect_extensions ON DELETE CASCADE,
    name           text   NOT NULL,
    created_at_ms  bigint NOT NULL,
    -- The extension that it is being moved away from; NULL when no migration runs.
    migrating_from text   REFERENCES connect_extensions ON DELETE SET NULL,
    UNIQUE (owner_id, extension_id)
);

CREATE INDEX services_by_extension ON services (extension_id);
CREATE INDEX services_migrating ON services (migrating_from) WHERE migrating_from IS NOT NULL;
CREATE INDEX services_by_owner ON services (owner_id, created_at_ms, service_id);
