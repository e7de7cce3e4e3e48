-- The games that publications of servers may name as their category.

CREATE TABLE games (
    game_id text  PRIMARY KEY CHECK (game_id ~ '^[a-z0-9-]{2,32}$'),
    name    text  NOT NULL,
    modes   bytea NOT NULL  -- encoded JSON: [{mode, variants, roundBased}]
);

INSERT INTO games (game_id, name, modes)
SELECT game_id, name, convert_to(modes, 'UTF8') FROM (VALUES
    ('bedwars',   'Bed Wars',   '[{"mode":"solo","variants":["classic","rush"],"roundBased":true},{"mode":"doubles","variants":["classic","rush"],"roundBased":true},{"mode":"teams","variants":["3v3v3v3","4v4v4v4"],"roundBased":true}]'),
    ('skywars',   'Sky Wars',   '[{"mode":"solo","variants":["normal","insane"],"roundBased":true},{"mode":"teams","variants":["normal","insane"],"roundBased":true}]'),
    ('skyblock',  'SkyBlock',   '[{"mode":"island","variants":["classic","hardcore","one-block"],"roundBased":false}]'),
    ('survival',  'Survival',   '[{"mode":"survival","variants":["vanilla","semi-vanilla","hardcore"],"roundBased":false}]'),
    ('creative',  'Creative',   '[{"mode":"plots","variants":["classic","build-battle"],"roundBased":false}]'),
    ('factions',  'Factions',   '[{"mode":"factions","variants":["classic","raiding"],"roundBased":false}]'),
    ('prison',    'Prison',     '[{"mode":"prison","variants":["classic","op"],"roundBased":false}]'),
    ('kitpvp',    'Kit PvP',    '[{"mode":"free-for-all","variants":["classic","soup"],"roundBased":false},{"mode":"duels","variants":["solo","doubles"],"roundBased":true}]'),
    ('parkour',   'Parkour',    '[{"mode":"maps","variants":["casual","timed"],"roundBased":false}]'),
    ('minigames', 'Minigames',  '[{"mode":"party","variants":[],"roundBased":true},{"mode":"hide-and-seek","variants":["blocks","props"],"roundBased":true}]'),
    ('murder',    'Murder Mystery', '[{"mode":"classic","variants":["classic","double-up"],"roundBased":true},{"mode":"infection","variants":[],"roundBased":true}]'),
    ('anarchy',   'Anarchy',    '[{"mode":"anarchy","variants":["vanilla"],"roundBased":false}]')
) AS shipped (game_id, name, modes);
