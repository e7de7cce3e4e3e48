-- What every domain stands on: who owns which actors, where their journals are, and what was answered already.

-- The right to write the actors of a shard. `fence` grows with every change of owner; a turn that was decided under
-- an older one is refused. Times are the database's own.
CREATE TABLE leases (
    shard      integer     PRIMARY KEY,
    node       text        NOT NULL,
    fence      bigint      NOT NULL,
    expires_at timestamptz NOT NULL
);

-- One row an actor: where its journal stands, and what lists show of it. Moved by every turn, so the pages keep room
-- for heap-only updates, and nothing that changes with each turn is indexed.
CREATE TABLE heads (
    kind          text   NOT NULL,
    id            text   NOT NULL,
    seq           bigint NOT NULL,
    epoch         text   NOT NULL,
    due_at_ms     bigint,
    summary       bytea  NOT NULL,
    updated_at_ms bigint NOT NULL,
    PRIMARY KEY (kind, id)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX heads_due ON heads (due_at_ms) WHERE due_at_ms IS NOT NULL;

-- The ordered journal: `seq` is the offset on the actor's channel, without gaps.
CREATE TABLE events (
    kind  text   NOT NULL,
    id    text   NOT NULL,
    seq   bigint NOT NULL,
    at_ms bigint NOT NULL,
    event bytea  NOT NULL,
    PRIMARY KEY (kind, id, seq)
);

-- A cache of states, so that loading does not start from nothing; two an actor. Believed only when `crc` fits.
CREATE TABLE snapshots (
    kind    text    NOT NULL,
    id      text    NOT NULL,
    seq     bigint  NOT NULL,
    version integer NOT NULL,
    crc     bigint  NOT NULL,
    state   bytea   NOT NULL,
    PRIMARY KEY (kind, id, seq)
);

-- Answers to requests with an Idempotency-Key, committed together with what the requests did.
CREATE TABLE receipts (
    key           bytea   PRIMARY KEY,
    fingerprint   bytea   NOT NULL,
    status        integer NOT NULL,
    reply         bytea   NOT NULL,
    expires_at_ms bigint  NOT NULL
);

CREATE INDEX receipts_expiry ON receipts (expires_at_ms);
