-- expands
-- Play is counted once a minute; a session that ends between two counts leaves a row here, written with its end, for the
-- next count. A server that is gone stays counted, so there is no foreign key.

CREATE TABLE quest_ended_visits (
    session_id  text    PRIMARY KEY,
    server_id   text    NOT NULL,
    user_id     text    NOT NULL REFERENCES users ON DELETE CASCADE,
    began_at_ms bigint  NOT NULL,
    ended_at_ms bigint  NOT NULL,
    -- The server was the player's own.
    own         boolean NOT NULL
);

CREATE INDEX quest_ended_visits_by_player ON quest_ended_visits (user_id, server_id);
