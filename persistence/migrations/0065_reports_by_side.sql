-- What was reported of somebody, and what somebody has reported, newest first.

CREATE INDEX reports_by_target ON reports (target_id, seq);
CREATE INDEX reports_of_reporter ON reports (reporter_id, seq);
