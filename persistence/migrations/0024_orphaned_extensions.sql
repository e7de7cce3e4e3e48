-- Extensions whose owner was erased go once no server has registered them, and their permissions with them.

CREATE INDEX connect_extensions_orphaned ON connect_extensions (extension_id) WHERE owner_id IS NULL;
CREATE INDEX IF NOT EXISTS user_grants_by_node ON user_grants (node);
