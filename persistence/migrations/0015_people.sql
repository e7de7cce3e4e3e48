-- What users keep with us beside their own row, and those whom we have forgotten. Times are epoch milliseconds.

-- Launcher profiles that anybody may fetch who has the code.
CREATE TABLE profile_shares (
    code          text   PRIMARY KEY CHECK (length(code) = 14),
    user_id       text   NOT NULL REFERENCES users ON DELETE CASCADE,
    name          text   NOT NULL,
    -- The user's own JSON, opaque to us, as in users.ui_style.
    manifest      bytea  NOT NULL,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL
);

CREATE INDEX profile_shares_by_user ON profile_shares (user_id, created_at_ms, code);
CREATE INDEX profile_shares_by_expiry ON profile_shares (expires_at_ms);

-- The game's options, kept in step between a user's machines.
CREATE TABLE minecraft_options (
    user_id       text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    options       bytea  NOT NULL,
    revision      bigint NOT NULL,
    updated_at_ms bigint NOT NULL
);

-- Experience that a user has gathered; who has none has no row.
CREATE TABLE experience (
    user_id  text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    total_xp bigint NOT NULL CHECK (total_xp >= 0)
);

CREATE INDEX users_supporters ON users (supporter_since_ms, id) WHERE supporter_tier IS NOT NULL;

-- Who was erased, and when: tokens issued before open nothing. Older messages lose the name one after another; until
-- that is done, swept is false.
CREATE TABLE erased_users (
    user_id      text    PRIMARY KEY CHECK (length(user_id) = 36),
    erased_at_ms bigint  NOT NULL,
    swept        boolean NOT NULL DEFAULT false
);

CREATE INDEX erased_users_unswept ON erased_users (erased_at_ms) WHERE NOT swept;

-- Both ends of what is between two users go with either of them.
CREATE INDEX friend_links_by_friend ON friend_links (friend_id);
CREATE INDEX flame_streaks_by_high ON flame_streaks (high_id);

-- What public lists show of a server or network; here only what a saved address needs.
CREATE TABLE IF NOT EXISTS publications (
    id               text   PRIMARY KEY CHECK (length(id) = 24),
    address          text   NOT NULL,
    display_name     text   NOT NULL,
    discovery_source text   NOT NULL,
    discovery_state  text   NOT NULL,
    ownership_state  text   NOT NULL,
    created_at_ms    bigint NOT NULL,
    updated_at_ms    bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS publications_by_address ON publications (address);
CREATE INDEX publications_of_users ON publications (created_at_ms)
    WHERE discovery_source = 'USER' AND discovery_state = 'UNLISTED';

-- The public servers that users have saved, in their own order; positions have gaps, lists number them anew.
CREATE TABLE saved_servers (
    user_id       text    NOT NULL REFERENCES users ON DELETE CASCADE,
    server_id     text    NOT NULL REFERENCES publications ON DELETE CASCADE,
    position      bigint  NOT NULL,
    favorite      boolean NOT NULL DEFAULT false,
    created_at_ms bigint  NOT NULL,
    PRIMARY KEY (user_id, server_id)
);

CREATE INDEX saved_servers_by_server ON saved_servers (server_id);

-- How many have a server among their favourites; no row = nobody ever had.
CREATE TABLE server_favorites (
    server_id text   PRIMARY KEY REFERENCES publications ON DELETE CASCADE,
    favorites bigint NOT NULL
) WITH (fillfactor = 70);

-- A trigger, because users and publications take their rows along without asking.
CREATE FUNCTION saved_server_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.favorite AND (TG_OP = 'INSERT' OR NOT OLD.favorite) THEN
        INSERT INTO server_favorites (server_id, favorites) VALUES (NEW.server_id, 1)
        ON CONFLICT (server_id) DO UPDATE SET favorites = server_favorites.favorites + 1;
    ELSIF TG_OP <> 'INSERT' AND OLD.favorite AND (TG_OP = 'DELETE' OR NOT NEW.favorite) THEN
        UPDATE server_favorites SET favorites = favorites - 1 WHERE server_id = OLD.server_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER saved_servers_counted AFTER INSERT OR DELETE OR UPDATE OF favorite ON saved_servers
    FOR EACH ROW EXECUTE FUNCTION saved_server_counted();
