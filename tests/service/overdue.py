"""What each job that prunes has to do: rows that are overdue, and rows that are young."""

from dataclasses import dataclass

from routes.connect.jobs import SETTLING_MS

YOUNG_MS = 2**45
"""Of what is not overdue for a thousand years."""

USERS = """
INSERT INTO users (id, name, name_lower, name_issued_at_s, created_at_ms, updated_at_ms)
SELECT lpad(to_hex(i), 36, '0'), 'u' || i, 'u' || i, 0, 0, 0 FROM generate_series(1, 150) AS i
"""
SERVERS = """
INSERT INTO connect_servers (server_id, id, server_type, name, owner_id, secret, created_at_ms, updated_at_ms,
                             last_seen_at_ms)
SELECT 's' || i, lpad(to_hex(i), 24, '0'), 'server', 's', lpad(to_hex(1), 36, '0'), sha256('s'), 0, 0, 0
FROM generate_series(1, 12000) AS i
"""
INTO_HEADS = "INSERT INTO heads (kind, id, seq, epoch, due_at_ms, summary, updated_at_ms, shard)"
PUBLICATIONS = """
INSERT INTO publications (id, address, display_name, discovery_source, discovery_state, ownership_state, created_at_ms,
                          updated_at_ms)
SELECT lpad(to_hex(i), 24, '0'), 'h' || i || '.example', 'x', '{source}', '{state}', 'UNCLAIMED', {at}, 0
FROM generate_series(1, 14000) AS i
"""


@dataclass(frozen=True)
class Case:
    """A job with much to do.

    Args:
        job: its name.
        fills: what makes rows, overdue ones and young ones.
        counts: how many rows there are.
        left: how many must stay.
        up_for_ms: how long the service has to be there before the job removes anything.
    """

    job: str
    fills: tuple[str, ...]
    counts: str
    left: int
    up_for_ms: int = 0


CASES = (
    Case(
        "idempotency receipts",
        (
            "INSERT INTO receipts SELECT sha256(int4send(i)), '', 200, '', CASE WHEN i <= 30000 THEN i ELSE"
            f" {YOUNG_MS} END FROM generate_series(1, 30100) AS i",
        ),
        "receipts",
        100,
    ),
    Case(
        "journal",
        (
            f"{INTO_HEADS} SELECT 'thing', 'a' || i, 12, 'e', NULL, '', 0, 0 FROM generate_series(1, 6000) AS i",
            f"{INTO_HEADS} VALUES ('thing', 'z', 17000, 'e', NULL, '', 0, 0)",
            "INSERT INTO events SELECT 'thing', 'z', i, 0, '' FROM generate_series(1, 17000) AS i",
        ),
        "events",
        1_000,
    ),
    Case(
        "old checkouts",
        (
            USERS,
            "INSERT INTO shop_checkouts"
            " (id, status, provider, total, currency, created_at_ms, expires_at_ms, asked_at_ms)"
            " SELECT lpad(to_hex(i), 24, '0'), 'expired', 'manual', 1, 'eur', CASE WHEN i <= 3000 THEN i ELSE"
            f" {YOUNG_MS} END, 0, 0 FROM generate_series(1, 3100) AS i",
        ),
        "shop_checkouts",
        100,
    ),
    Case(
        "old webhooks",
        (
            "INSERT INTO shop_webhook_events (id, received_at_ms) SELECT 'evt_' || i, CASE WHEN i <= 3000 THEN i ELSE"
            f" {YOUNG_MS} END FROM generate_series(1, 3100) AS i",
        ),
        "shop_webhook_events",
        100,
    ),
    Case(
        "old notifications",
        (
            USERS,
            "INSERT INTO notification_heads SELECT id, 'e', 0, 0 FROM users",
            "INSERT INTO notifications SELECT lpad(to_hex(i), 24, '0'), lpad(to_hex(1), 36, '0'), i, i, 'news', NULL,"
            f" '', CASE WHEN i <= 12000 THEN i ELSE {YOUNG_MS} END FROM generate_series(1, 12100) AS i",
        ),
        "notifications",
        100,
    ),
    Case(
        "old posts to Discord",
        (
            USERS,
            "INSERT INTO networks (network_id, id, name, owner_id, created_at_ms, updated_at_ms)"
            " SELECT 'n', repeat('0', 24), 'n', id, 0, 0 FROM users WHERE name = 'u1'",
            "INSERT INTO news_articles (id, network_id, slug, title, summary, body, body_html, size_bytes, tags,"
            " locale, pinned, status, visibility, created_at_ms, updated_at_ms, notify)"
            " SELECT lpad(to_hex(i), 24, '0'), 'n', 's' || i, '', '', '', '', 0, '{}', 'en', false, 'draft', 'public',"
            " 0, 0, false FROM generate_series(1, 12100) AS i",
            "INSERT INTO network_discord (network_id, guild_id, events, webhook_status, created_at_ms, updated_at_ms)"
            " VALUES ('n', '1', '{}', 'none', 0, 0)",
            "INSERT INTO discord_outbox (network_id, event, news_id, created_at_ms) SELECT 'n', 'news_published', id,"
            f" CASE WHEN slug > 's12000' AND length(slug) = 6 THEN {YOUNG_MS} ELSE 1 END FROM news_articles",
        ),
        "discord_outbox",
        100,
    ),
    Case(
        "old quests",
        (
            USERS,
            "INSERT INTO quest_days (user_id, day, draws) SELECT id, CASE WHEN i <= 80 THEN i ELSE 1000000 + i END, 3"
            " FROM users, generate_series(1, 81) AS i",
        ),
        "quest_days",
        150,
    ),
    Case(
        "old play of quests",
        (
            USERS,
            "INSERT INTO quest_play (user_id, day, server_id, played_ms, counted_until_ms)"
            " SELECT id, CASE WHEN i <= 80 THEN i ELSE 1000000 + i END, 's', 0, 0"
            " FROM users, generate_series(1, 81) AS i",
        ),
        "quest_play",
        150,
    ),
    Case(
        "old launches of quests",
        (
            USERS,
            "INSERT INTO quest_launches SELECT id, CASE WHEN i <= 80 THEN i ELSE 1000000 + i END, 's'"
            " FROM users, generate_series(1, 81) AS i",
        ),
        "quest_launches",
        150,
    ),
    Case(
        "old company of quests",
        (
            USERS,
            "INSERT INTO quest_company SELECT id, CASE WHEN i <= 80 THEN i ELSE 1000000 + i END"
            " FROM users, generate_series(1, 81) AS i",
        ),
        "quest_company",
        150,
    ),
    Case(
        "gateways that are gone",
        (
            "INSERT INTO gateways SELECT lpad(to_hex(i), 24, '0'), '', i, 1, 1, sha256('s'), false, false, 0, 0, 0,"
            f" CASE WHEN i <= 1600 THEN i ELSE {YOUNG_MS} END, 0, 0 FROM generate_series(1, 1700) AS i",
        ),
        "gateways",
        100,
    ),
    Case(
        "friend requests that expire",
        (
            USERS,
            "INSERT INTO friend_requests SELECT lpad(to_hex(row_number() OVER ()), 24, '0'), a.id, b.id, NULL, 0,"
            f" CASE WHEN a.name < 'u2' THEN 1 ELSE {YOUNG_MS} END FROM users a, users b WHERE a.id < b.id",
        ),
        "(SELECT FROM friend_requests WHERE expires_at_ms = 1)",
        0,
    ),
    Case(
        "shared profiles that expire",
        (
            USERS,
            "INSERT INTO profile_shares SELECT lpad(to_hex(i), 14, '0'), lpad(to_hex(1), 36, '0'), 'x', '', 0,"
            f" CASE WHEN i <= 1600 THEN i ELSE {YOUNG_MS} END FROM generate_series(1, 1700) AS i",
        ),
        "profile_shares",
        100,
    ),
    Case(
        "addresses without a saved server",
        (
            USERS,
            PUBLICATIONS.format(source="USER", state="UNLISTED", at="i"),
            "INSERT INTO saved_servers SELECT lpad(to_hex(1), 36, '0'), id, 1, false, 0 FROM publications"
            " WHERE created_at_ms % 10 = 0",
        ),
        "publications",
        1_400,
    ),
    Case(
        "claim keys",
        (
            USERS,
            SERVERS,
            "INSERT INTO connect_claim_keys SELECT sha256(int4send(i)), 's1', CASE WHEN i <= 12000 THEN i ELSE"
            f" {YOUNG_MS} END FROM generate_series(1, 12100) AS i",
        ),
        "connect_claim_keys",
        100,
    ),
    Case(
        "join tickets",
        (
            USERS,
            SERVERS,
            "INSERT INTO connect_tickets SELECT s.server_id, u.id, sha256('x'), 'x',"
            f" CASE WHEN u.name = 'u7' THEN {YOUNG_MS} ELSE 1 END, false"
            " FROM (SELECT * FROM connect_servers LIMIT 100) s, users u",
        ),
        "connect_tickets",
        100,
    ),
    Case(
        "silent game servers",
        (
            USERS,
            SERVERS.replace(
                "lpad(to_hex(1), 36, '0')", "nullif(lpad(to_hex(i / 451), 36, '0'), repeat('0', 36))"
            ),
            f"{INTO_HEADS} SELECT 'server', server_id, 0, 'e', NULL, '', 0, 0 FROM connect_servers",
        ),
        "connect_servers",
        11_550,
        up_for_ms=SETTLING_MS,
    ),
    Case(
        "finished commands",
        (
            USERS,
            SERVERS,
            "INSERT INTO connect_commands (id, server_id, action, payload, status, version, attempts, created_by,"
            " created_at_ms, updated_at_ms, finished_at_ms, expires_at_ms)"
            " SELECT lpad(to_hex(i), 24, '0'), 's' || 1 + i % 2, 'x', '', 'success', 1, 1, 'x', i, 0, i, 0"
            " FROM generate_series(1, 9000) AS i",
        ),
        "connect_commands",
        2_000,
    ),
    Case(
        "removed game servers",
        (
            f"{INTO_HEADS} SELECT 'server', 's' || i, 1, 'e', NULL, '', 0, 0 FROM generate_series(1, 6000) AS i",
            "INSERT INTO events SELECT 'server', 's1', i, 0, '' FROM generate_series(1, 12000) AS i",
        ),
        "(SELECT FROM heads UNION ALL SELECT FROM events)",
        0,
    ),
    Case(
        "ended voice channels",
        (
            f"{INTO_HEADS} SELECT 'voice', 'p' || i, 1, 'e', NULL, '', 0, 0 FROM generate_series(1, 6000) AS i",
            "INSERT INTO events SELECT 'voice', 'p' || i % 6000, i, 0, '' FROM generate_series(1, 12000) AS i"
            " WHERE i % 6000 > 0",
        ),
        "(SELECT FROM heads UNION ALL SELECT FROM events)",
        0,
    ),
    Case(
        "ended parties",
        (
            f"{INTO_HEADS} SELECT 'party', 'p' || i, 1, 'e', NULL, '', 0, 0 FROM generate_series(1, 6000) AS i",
            "INSERT INTO events SELECT 'party', 'p' || i % 6000, i, 0, '' FROM generate_series(1, 12000) AS i"
            " WHERE i % 6000 > 0",
        ),
        "(SELECT FROM heads UNION ALL SELECT FROM events)",
        0,
    ),
    Case(
        "join tokens",
        (
            USERS,
            "INSERT INTO networks (network_id, id, name, owner_id, created_at_ms, updated_at_ms)"
            " VALUES ('n', lpad('', 24, '0'), 'n', lpad(to_hex(1), 36, '0'), 0, 0)",
            "INSERT INTO network_join_tokens SELECT sha256(int4send(i)), 'n', CASE WHEN i <= 12000 THEN i ELSE"
            f" {YOUNG_MS} END FROM generate_series(1, 12100) AS i",
        ),
        "network_join_tokens",
        100,
    ),
    Case(
        "publications that are silent",
        (
            PUBLICATIONS.format(source="CONNECT", state="CONNECT", at="0"),
            "INSERT INTO publication_statuses SELECT id, 0,"
            f" CASE WHEN id < lpad('64', 24, '0') THEN {YOUNG_MS} ELSE 0 END FROM publications",
        ),
        "(SELECT FROM publications WHERE discovery_state = 'CONNECT')",
        99,
    ),
    Case(
        "statuses that are old",
        (
            USERS,
            SERVERS,
            "INSERT INTO server_statuses SELECT server_id, true, '', 0, 0,"
            f" CASE WHEN server_id LIKE 's1000%' THEN {YOUNG_MS} ELSE 0 END FROM connect_servers",
        ),
        "server_statuses",
        11,
    ),
)
