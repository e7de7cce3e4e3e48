-- Revocation of user tokens: those issued before this second (their iat, epoch seconds) open nothing.

ALTER TABLE users ADD COLUMN tokens_not_before_s bigint NOT NULL DEFAULT 0;
