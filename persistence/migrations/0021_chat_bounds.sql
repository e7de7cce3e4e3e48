-- What one user may make of conversations and do to others with them.

CREATE INDEX conversations_by_owner ON conversations (owner_id) WHERE owner_id IS NOT NULL;
CREATE INDEX conversations_of_nobody ON conversations (id) WHERE kind = 'group' AND owner_id IS NULL;

CREATE INDEX attachments_by_conversation ON attachments (conversation_id) WHERE state IN ('reserved', 'kept');

-- Users who are just being added to a group: they count as members until the addition was decided.
CREATE TABLE members_to_be (
    user_id         text   NOT NULL,
    conversation_id text   NOT NULL,
    at_ms           bigint NOT NULL,
    PRIMARY KEY (user_id, conversation_id)
);

-- How many others a user has brought into conversations on one day (UTC, days since 1970).
CREATE TABLE members_added (
    user_id text    PRIMARY KEY,
    day     bigint  NOT NULL,
    members integer NOT NULL
);

-- Texts between a message's first and its newest 49 former ones are no longer kept.
DELETE FROM message_revisions r
USING (SELECT message_id, max(revision) AS newest FROM message_revisions GROUP BY message_id) AS n
WHERE r.message_id = n.message_id AND r.revision > 1 AND r.revision <= n.newest - 49;
