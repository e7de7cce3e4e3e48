-- A node that an operator has drained: it gives away what it owns, and takes nothing, until it is resumed or starts again.

ALTER TABLE nodes ADD COLUMN drained boolean NOT NULL DEFAULT false;
