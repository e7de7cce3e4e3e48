-- expands
-- A command's payload as all but its game server see it, with a mask for each secret value of the action's schema; null
-- where that is the payload itself, as it is of each command that has ended.

ALTER TABLE connect_commands ADD COLUMN masked bytea;
