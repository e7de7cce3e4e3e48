-- Several nodes over one database: what each says of itself in its row. `alone`: it serves without others, as every node
-- does that has no bus. `heard`: the nodes that it hears over the bus, by which all judge who may go on.

ALTER TABLE nodes ADD COLUMN state         text    NOT NULL DEFAULT 'alone',
                  ADD COLUMN release       text    NOT NULL DEFAULT '',
                  ADD COLUMN since_ms      bigint  NOT NULL DEFAULT 0,
                  ADD COLUMN heard         text[]  NOT NULL DEFAULT '{}',
                  ADD COLUMN sockets       integer NOT NULL DEFAULT 0,
                  ADD COLUMN waiting_bytes bigint  NOT NULL DEFAULT 0,
                  ADD CONSTRAINT nodes_state CHECK (state IN ('alone', 'joining', 'up', 'leaving'));

-- What all nodes of one database have in common: under which name they meet on the bus, and whose keys they have.
CREATE TABLE cluster (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    space  text    NOT NULL,
    key_id text    NOT NULL
);
