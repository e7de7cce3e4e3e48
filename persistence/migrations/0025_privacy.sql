-- What users see of each other outlives a friendship, and who may put one into a group is one's own choice.

-- Who looks offline to whom although the two are no friends any more: whoever hid from a friend stays hidden until the
-- two become friends anew. While they are friends the link says it.
CREATE TABLE veils (
    holder_id text NOT NULL REFERENCES users ON DELETE CASCADE,
    viewer_id text NOT NULL REFERENCES users ON DELETE CASCADE,
    PRIMARY KEY (holder_id, viewer_id),
    CHECK (holder_id <> viewer_id)
);

CREATE INDEX veils_by_viewer ON veils (viewer_id);

ALTER TABLE users ADD COLUMN group_invites text NOT NULL DEFAULT 'EVERYONE'
    CHECK (group_invites IN ('EVERYONE', 'FRIENDS', 'NOBODY'));

-- Whether the member has made the conversation or written in it, since they joined: only then others than friends see
-- whether they are online. Who made a conversation of before is not known, so that there only writing counts.
ALTER TABLE conversation_members ADD COLUMN spoke boolean NOT NULL DEFAULT false;

UPDATE conversation_members m SET spoke = true
WHERE m.sent > 0 OR EXISTS (
    SELECT FROM messages x
    WHERE x.conversation_id = m.conversation_id AND x.sender_id = m.user_id AND x.seq > m.joined_seq);
