-- expands
-- Linked in a session that vouches for no super-admin: then neither does what signs in with the account.

ALTER TABLE identities ADD COLUMN capped boolean NOT NULL DEFAULT false;
