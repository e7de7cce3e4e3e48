-- The audit trail, found by the request that somebody reports.

CREATE INDEX audit_log_by_request ON audit_log (request_id, at_ms, seq) WHERE request_id IS NOT NULL;
