-- How many were erased of whom a party has spoken: nobody goes on from a place in its past that was told with their names.

ALTER TABLE parties ADD COLUMN erased integer NOT NULL DEFAULT 0;
