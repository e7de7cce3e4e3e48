-- The audit trail, found by who did it, to whom, what it was, and when. `at_ms` and `seq` are nearly the same order, and
-- pages go by both.

CREATE INDEX audit_log_by_time ON audit_log (at_ms, seq);
CREATE INDEX audit_log_by_actor ON audit_log (actor_id, at_ms, seq);
CREATE INDEX audit_log_by_target ON audit_log (target_id, at_ms, seq);
CREATE INDEX audit_log_by_action ON audit_log (action, at_ms, seq);
