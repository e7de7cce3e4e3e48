-- expands
-- Until when a network's DNS records are one node's to write (epoch milliseconds): written by two at once, an older
-- record could come after the removal of its name. Another provider of the network leaves it as it is, since what is on
-- its way to the former one may be in the same zone.
ALTER TABLE network_dns ADD COLUMN writing_until_ms bigint NOT NULL DEFAULT 0;
