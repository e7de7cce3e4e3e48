-- 1,024 shards in place of 16, and 16 more for work that one node does for all. A lease lasts for as long as its node
-- lives, and which nodes live is said in rows of their own: one row is renewed, not a thousand.

CREATE TABLE nodes (
    node       text        PRIMARY KEY,
    life       bigint      NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE SEQUENCE node_lives;

ALTER TABLE leases DROP COLUMN expires_at;

-- The shard of each head, as `persistence/nodes/shards.py` computes it: CRC-32 (ISO-HDLC, as in zlib), half a byte at
-- a time.
CREATE FUNCTION crc32_of(bytes bytea) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    halves CONSTANT bigint[] := ARRAY[
        0, 498536548, 997073096, 651767980, 1994146192, 1802195444, 1303535960, 1342533948,
        3988292384, 4027552580, 3604390888, 3412177804, 2607071920, 2262029012, 2685067896, 3183342108
    ];
    crc bigint := 4294967295;
    byte integer;
BEGIN
    FOR place IN 0 .. octet_length(bytes) - 1 LOOP
        byte := get_byte(bytes, place);
        crc := (crc >> 4) # halves[((crc # byte) & 15) + 1];
        crc := (crc >> 4) # halves[((crc # (byte >> 4)) & 15) + 1];
    END LOOP;
    RETURN crc # 4294967295;
END
$$;

ALTER TABLE heads ADD COLUMN shard smallint;
UPDATE heads SET shard = crc32_of(convert_to(kind || ':' || id, 'UTF8')) % 1024;
ALTER TABLE heads ALTER COLUMN shard SET NOT NULL;

DROP FUNCTION crc32_of;
