-- Conversations, their messages and what hangs on them. Times are epoch milliseconds, ids text. What moves with each
-- message (last message, counts, activity) lies in the summary of the head row, so that a message costs one insert.

CREATE TABLE conversations (
    id              text PRIMARY KEY CHECK (length(id) = 24),
    kind            text NOT NULL CHECK (kind IN ('direct', 'group')),
    title           text,
    owner_id        text,
    created_at_ms   bigint NOT NULL,
    -- Digest of kind and participant set as it is now; NULL once fewer than two are left.
    participant_key text
);

CREATE INDEX conversations_by_participants ON conversations (participant_key, created_at_ms, id);

CREATE TABLE conversation_members (
    conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
    user_id         text NOT NULL,
    joined_at_ms    bigint NOT NULL,
    -- Message seq at joining: what was sent before does not count as own or unread.
    joined_seq      bigint NOT NULL,
    muted           boolean NOT NULL DEFAULT false,
    read_seq        bigint NOT NULL,
    read_at_ms      bigint,
    -- sender_seq of the member's newest own message at or below read_seq.
    own_at_read     bigint NOT NULL DEFAULT 0,
    -- Own messages that were moved to the archive; those still in messages carry their own count.
    sent            bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (conversation_id, user_id)
) WITH (fillfactor = 80);

CREATE INDEX conversation_members_by_user ON conversation_members (user_id, conversation_id);

CREATE TABLE messages (
    conversation_id    text NOT NULL,
    seq                bigint NOT NULL,
    id                 text NOT NULL,
    created_at_ms      bigint NOT NULL,
    sender_id          text NOT NULL,
    -- Counts the sender's messages since they joined.
    sender_seq         bigint NOT NULL,
    client_message_id  text,
    -- The public JSON of the message, encoded once; pages join these bytes.
    record             bytea NOT NULL,
    has_poll           boolean NOT NULL,
    poll_open          boolean NOT NULL,
    -- Only while the poll is open and has a deadline.
    poll_expires_at_ms bigint,
    PRIMARY KEY (conversation_id, seq)
);

CREATE UNIQUE INDEX messages_by_time ON messages (conversation_id, created_at_ms);
CREATE UNIQUE INDEX messages_by_id ON messages (id);
CREATE UNIQUE INDEX messages_by_client_id ON messages (conversation_id, sender_id, client_message_id)
    WHERE client_message_id IS NOT NULL;
CREATE INDEX messages_by_sender ON messages (conversation_id, sender_id, seq);
CREATE INDEX messages_with_deadline ON messages (conversation_id) WHERE poll_expires_at_ms IS NOT NULL;

-- History from before, and messages that grew old. The key keeps beforeMs exact: no two of one millisecond.
CREATE TABLE archived_messages (
    conversation_id text NOT NULL,
    created_at_ms   bigint NOT NULL,
    id              text NOT NULL,
    record          bytea NOT NULL,
    has_poll        boolean NOT NULL DEFAULT false,
    PRIMARY KEY (conversation_id, created_at_ms)
);

CREATE UNIQUE INDEX archived_messages_by_id ON archived_messages (id);

-- Texts that edited messages had; a message that was never edited has no row.
CREATE TABLE message_revisions (
    message_id   text NOT NULL,
    revision     integer NOT NULL,
    content      text NOT NULL,
    edited_at_ms bigint NOT NULL,
    editor_id    text NOT NULL,
    PRIMARY KEY (message_id, revision)
);

-- Mentions that are not read yet.
CREATE TABLE mentions (
    conversation_id text NOT NULL,
    user_id         text NOT NULL,
    seq             bigint NOT NULL,
    PRIMARY KEY (conversation_id, user_id, seq)
);

CREATE INDEX mentions_by_message ON mentions (conversation_id, seq);

CREATE TABLE poll_votes (
    message_id text NOT NULL,
    user_id    text NOT NULL,
    option_ids text[] NOT NULL,
    PRIMARY KEY (message_id, user_id)
);

CREATE TABLE attachments (
    id              text PRIMARY KEY CHECK (length(id) = 24),
    conversation_id text NOT NULL,
    uploader_id     text NOT NULL,
    file_name       text NOT NULL,
    content_type    text NOT NULL,
    size_bytes      bigint NOT NULL,
    sha256          bytea NOT NULL CHECK (length(sha256) = 32),
    created_at_ms   bigint NOT NULL,
    used_at_ms      bigint,
    message_id      text
);

CREATE INDEX attachments_by_uploader ON attachments (uploader_id) INCLUDE (size_bytes);
CREATE INDEX attachments_by_content ON attachments (sha256);
CREATE INDEX attachments_by_message ON attachments (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX attachments_unused ON attachments (created_at_ms) WHERE used_at_ms IS NULL;
