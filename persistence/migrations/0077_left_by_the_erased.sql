-- Who is erased leaves their conversations. Those who were erased before stayed in them, as owners of groups, too, so
-- their erasure is done once more; not that of users who have come back, who have conversations of their own by now.

UPDATE erased_users e SET swept = false
WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = e.user_id)
AND EXISTS (SELECT FROM conversation_members m WHERE m.user_id = e.user_id);

-- A direct conversation has no members once both were erased; the key is NULL once fewer than two are left.
CREATE INDEX conversations_left ON conversations (id) WHERE owner_id IS NULL AND participant_key IS NULL;
DROP INDEX conversations_of_nobody;
