-- A denial may be of a node that the catalog does not know: whoever takes a node of rule 6 from one user (service-api §5)
-- must not, by the name alone, take it from everybody.

ALTER TABLE user_grants DROP CONSTRAINT user_grants_node_fkey;
