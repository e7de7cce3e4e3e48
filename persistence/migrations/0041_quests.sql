-- Daily quests, and what users have done on a day. Days are counted from 1970 (UTC).

CREATE TABLE quest_days (
    user_id text     NOT NULL REFERENCES users ON DELETE CASCADE,
    day     integer  NOT NULL,
    -- How many quests were drawn, redrawn ones and those that did not fit included; and how often the user rerolled.
    draws   integer  NOT NULL,
    rerolls smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
);

CREATE INDEX quest_days_by_day ON quest_days (day);

CREATE TABLE daily_quests (
    id              text     PRIMARY KEY CHECK (length(id) = 24),
    user_id         text     NOT NULL,
    day             integer  NOT NULL,
    slot            smallint NOT NULL,
    kind            text     NOT NULL,
    goal            integer  NOT NULL,
    xp              integer  NOT NULL,
    progress        integer  NOT NULL DEFAULT 0,
    completed_at_ms bigint,
    UNIQUE (user_id, day, slot),
    FOREIGN KEY (user_id, day) REFERENCES quest_days ON DELETE CASCADE
);

-- How long a user has played on a server on a day. A server that is gone stays counted, so there is no foreign key.
CREATE TABLE quest_play (
    user_id          text    NOT NULL REFERENCES users ON DELETE CASCADE,
    day              integer NOT NULL,
    server_id        text    NOT NULL,
    played_ms        bigint  NOT NULL,
    -- What was played before this moment is in played_ms.
    counted_until_ms bigint  NOT NULL,
    PRIMARY KEY (user_id, day, server_id)
);

-- Whether somebody else played there on that day; and what is old.
CREATE INDEX quest_play_by_server ON quest_play (day, server_id);

-- Launch signals that a user was part of, so that none counts twice.
CREATE TABLE quest_launches (
    user_id   text    NOT NULL REFERENCES users ON DELETE CASCADE,
    day       integer NOT NULL,
    signal_id text    NOT NULL,
    PRIMARY KEY (user_id, day, signal_id)
);

CREATE INDEX quest_launches_by_day ON quest_launches (day);

-- The largest party that a user was in on a day, and whether they played with a friend.
CREATE TABLE quest_company (
    user_id    text     NOT NULL REFERENCES users ON DELETE CASCADE,
    day        integer  NOT NULL,
    party_size smallint NOT NULL DEFAULT 0,
    friends    smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
);

CREATE INDEX quest_company_by_day ON quest_company (day);
