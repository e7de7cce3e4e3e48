-- What every commit writes is sent as arrays of rows and not as an array for each column: the driver looks at each
-- element of an array, which costs 1 µs and more, and 27 elements a message are 3 now. The types belong to the
-- statements that name them (`writer.py`, `chat/messages.py`): whoever changes one of those makes a new type.

CREATE TYPE turn_row AS (
    kind text, id text, shard integer, fence bigint, seq bigint, next_seq bigint, due_at_ms bigint, summary bytea,
    at_ms bigint, version bigint, bytes bigint
);

CREATE TYPE event_row AS (kind text, id text, seq bigint, at_ms bigint, event bytea);

CREATE TYPE message_row AS (
    conversation_id text, seq bigint, id text, created_at_ms bigint, sender_id text, sender_seq bigint,
    client_message_id text, record bytea, has_poll boolean, poll_open boolean, poll_expires_at_ms bigint
);
