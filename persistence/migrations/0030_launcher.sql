-- What launchers report, and which hosts they may talk to.

CREATE TABLE performance_reports (
    -- Reports of one millisecond need an order of their own, for the cursor.
    seq              bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id               text    NOT NULL UNIQUE CHECK (length(id) = 24),
    user_id          text    NOT NULL REFERENCES users ON DELETE CASCADE,
    launcher_version text,
    platform         text,
    created_at_ms    bigint  NOT NULL,
    report           bytea   NOT NULL
);

CREATE INDEX performance_reports_by_time ON performance_reports (created_at_ms, seq);
CREATE INDEX performance_reports_by_user ON performance_reports (user_id, created_at_ms, seq);

-- How many came on a day (UTC, counted from 1970), also of those that were not kept; '' = not said, or one name too many.
CREATE TABLE performance_report_counts (
    day              integer NOT NULL,
    platform         text    NOT NULL,
    launcher_version text    NOT NULL,
    reports          bigint  NOT NULL,
    PRIMARY KEY (day, platform, launcher_version)
);

CREATE TABLE network_guard_allowlist (
    singleton     boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    version       bigint  NOT NULL,
    hosts         text[]  NOT NULL,
    updated_at_ms bigint  NOT NULL
);

INSERT INTO network_guard_allowlist (version, hosts, updated_at_ms)
VALUES (1, '{}', (extract(epoch FROM now()) * 1000)::bigint);
