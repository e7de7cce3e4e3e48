-- expands
-- With which master key secrets in this database are sealed: a name of it, which says nothing of the key itself.

CREATE TABLE master_key (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    name text    NOT NULL
);
