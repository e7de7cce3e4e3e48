-- expands
-- What was granted or denied of perks for a time is settled when that is over. A job asks each minute for what has ended
-- since, and looked at every grant of a perk for it.

CREATE INDEX user_grants_ending ON user_grants (expires_at_ms, user_id, node)
    WHERE expires_at_ms IS NOT NULL AND (node LIKE 'perk:%' OR node LIKE '*%');
