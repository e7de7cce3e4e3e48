-- expands
-- Two lists whose pages looked at every row: extensions that anybody may see, by id in the order of code points, and
-- featured publications, which are few among many.

CREATE INDEX connect_extensions_public ON connect_extensions (extension_id COLLATE "C") WHERE visibility = 'public';
CREATE INDEX publications_featured ON publications (name_lower, id) WHERE featured;
