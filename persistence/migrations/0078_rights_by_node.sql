-- expands
-- Which totems somebody has bought is asked at each upload, by the node that unlocks one.

CREATE INDEX shop_entitlements_by_node ON shop_entitlements (node) WHERE NOT ended;
