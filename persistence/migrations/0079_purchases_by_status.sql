-- expands
-- Admins ask for the purchases in one state. Nearly all are fulfilled, and those are found among all.

CREATE INDEX shop_purchases_by_status ON shop_purchases (status, seq) WHERE status <> 'fulfilled';
