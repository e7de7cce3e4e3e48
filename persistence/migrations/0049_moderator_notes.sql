-- What moderators note about users, for each other. A note goes with the user whom it is about; its author, when erased,
-- is taken from it.

CREATE TABLE moderator_notes (
    seq           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            text   NOT NULL UNIQUE CHECK (length(id) = 24),
    user_id       text   NOT NULL REFERENCES users ON DELETE CASCADE,
    author_id     text   REFERENCES users ON DELETE SET NULL,
    text          text   NOT NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL
);

CREATE INDEX moderator_notes_by_user ON moderator_notes (user_id, seq);
CREATE INDEX moderator_notes_by_author ON moderator_notes (author_id) WHERE author_id IS NOT NULL;
