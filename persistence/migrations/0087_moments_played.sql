-- expands
-- When a user was on a server on a day, epoch milliseconds: time on several servers at once is played once. What
-- played_ms has beyond it was counted before the column was there, or by the release before.

ALTER TABLE quest_play ADD COLUMN moments int8multirange NOT NULL DEFAULT '{}';
