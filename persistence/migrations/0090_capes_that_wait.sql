-- expands
-- Which cape was submitted last of those that wait: moderators are told of it each second in which their queue moves.

CREATE INDEX capes_that_wait ON capes (updated_at_ms DESC, id DESC) WHERE status = 'pending';
