-- The shop: what is sold, who pays for what, and the rights that were bought.

CREATE TABLE shop_products (
    id            text    PRIMARY KEY CHECK (length(id) = 24),
    slug          text    NOT NULL UNIQUE,
    kind          text    NOT NULL CHECK (kind IN ('cape', 'totem', 'supporter', 'permission', 'bundle')),
    name          text    NOT NULL,
    description   text    NOT NULL,
    amount        bigint  NOT NULL CHECK (amount >= 0),
    currency      text    NOT NULL,
    grants        bytea   NOT NULL,
    image_url     text,
    target_id     text,
    includes      text[]  NOT NULL,
    available     boolean NOT NULL,
    -- How many one recipient may have of it; NULL = any number.
    most_each     integer,
    revision      integer NOT NULL,
    created_at_ms bigint  NOT NULL,
    updated_at_ms bigint  NOT NULL
);

CREATE INDEX shop_products_by_target ON shop_products (kind, target_id) WHERE available AND target_id IS NOT NULL;

CREATE TABLE shop_checkouts (
    id                text    PRIMARY KEY CHECK (length(id) = 24),
    payer_id          text    REFERENCES users ON DELETE SET NULL,
    recipient_id      text    REFERENCES users ON DELETE SET NULL,
    status            text    NOT NULL CHECK (status IN ('open', 'completed', 'expired', 'cancelled')),
    provider          text    NOT NULL,
    total             bigint  NOT NULL,
    currency          text    NOT NULL,
    success_url       text,
    cancel_url        text,
    -- Receipt's key and body of the request that made it, so that a repeat finds it before there is a receipt.
    request_key       bytea,
    request_body      bytea,
    -- The provider's session; which of its idempotency keys is in use; the payment once it is known.
    session_ref       text,
    url               text,
    attempt           integer NOT NULL DEFAULT 0,
    payment_ref       text,
    -- The provider's names of disputes that are not over, and of those that were won.
    disputes          text[]  NOT NULL DEFAULT '{}',
    disputes_won      text[]  NOT NULL DEFAULT '{}',
    created_at_ms     bigint  NOT NULL,
    expires_at_ms     bigint  NOT NULL,
    asked_at_ms       bigint  NOT NULL,
    ended_at_ms       bigint
);

CREATE INDEX shop_checkouts_by_payer ON shop_checkouts (payer_id, created_at_ms);
CREATE INDEX shop_checkouts_by_recipient ON shop_checkouts (recipient_id);
CREATE INDEX shop_checkouts_open ON shop_checkouts (expires_at_ms) WHERE status = 'open';
CREATE INDEX shop_checkouts_unasked ON shop_checkouts (asked_at_ms) WHERE status = 'open';
CREATE INDEX shop_checkouts_by_age ON shop_checkouts (created_at_ms) WHERE status <> 'completed';
CREATE UNIQUE INDEX shop_checkouts_by_payment ON shop_checkouts (payment_ref) WHERE payment_ref IS NOT NULL;

-- The rights that a product gave when it was ordered; products with the same ones share a row.
CREATE TABLE shop_grants (
    digest bytea PRIMARY KEY,
    grants bytea NOT NULL
);

CREATE TABLE shop_purchases (
    -- Purchases of one millisecond need an order of their own, for the cursor.
    seq             bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id              text    NOT NULL UNIQUE CHECK (length(id) = 24),
    checkout_id     text    NOT NULL,
    product_id      text    NOT NULL REFERENCES shop_products,
    payer_id        text    REFERENCES users ON DELETE SET NULL,
    recipient_id    text    REFERENCES users ON DELETE SET NULL,
    grants_digest   bytea   NOT NULL REFERENCES shop_grants,
    quantity        integer NOT NULL CHECK (quantity > 0),
    amount          bigint  NOT NULL,
    currency        text    NOT NULL,
    status          text    NOT NULL
        CHECK (status IN ('pending', 'paid', 'fulfilled', 'refunded', 'disputed', 'failed')),
    hold            text    CHECK (hold IN ('AMOUNT_MISMATCH', 'LIMIT', 'RECIPIENT_GONE')),
    provider        text    NOT NULL,
    provider_ref    text,
    refunded_amount bigint  NOT NULL DEFAULT 0,
    created_at_ms   bigint  NOT NULL,
    fulfilled_at_ms bigint,
    refunded_at_ms  bigint
);

CREATE INDEX shop_purchases_by_checkout ON shop_purchases (checkout_id);
CREATE INDEX shop_purchases_by_payer ON shop_purchases (payer_id, seq);
CREATE INDEX shop_purchases_by_recipient ON shop_purchases (recipient_id, seq);
CREATE INDEX shop_purchases_of_product ON shop_purchases (product_id, recipient_id);
CREATE INDEX shop_purchases_pending ON shop_purchases (checkout_id) WHERE status = 'pending';

-- Rights that were bought, beside those that admins have granted. They end with their time, or for good with a refund.
CREATE TABLE shop_entitlements (
    purchase_id   text     NOT NULL REFERENCES shop_purchases (id) ON DELETE CASCADE,
    position      smallint NOT NULL,
    user_id       text     NOT NULL REFERENCES users ON DELETE CASCADE,
    product_id    text     NOT NULL,
    node          text     NOT NULL,
    value         double precision,
    unit          text,
    begins_at_ms  bigint   NOT NULL,
    ends_at_ms    bigint,
    suspended     boolean  NOT NULL DEFAULT false,
    ended         boolean  NOT NULL DEFAULT false,
    PRIMARY KEY (purchase_id, position)
);

CREATE INDEX shop_entitlements_live ON shop_entitlements (user_id, node) WHERE NOT ended;
CREATE INDEX shop_entitlements_by_user ON shop_entitlements (user_id, node);
CREATE INDEX shop_entitlements_ending ON shop_entitlements (ends_at_ms) WHERE NOT ended;

CREATE TABLE shop_webhook_events (
    seq            bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id             text    NOT NULL UNIQUE,
    -- Only while it waits for the payment that it is about: the event, and the checkout or payment that it names.
    event          bytea,
    checkout_id    text,
    payment_ref    text,
    received_at_ms bigint  NOT NULL
);

CREATE INDEX shop_webhook_events_by_age ON shop_webhook_events (received_at_ms);
CREATE INDEX shop_webhook_events_by_payment ON shop_webhook_events (payment_ref) WHERE event IS NOT NULL;
CREATE INDEX shop_webhook_events_by_checkout ON shop_webhook_events (checkout_id) WHERE event IS NOT NULL;

-- What a payer wrote goes with them.
CREATE FUNCTION shop_payer_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.success_url := NULL;
    NEW.cancel_url := NULL;
    NEW.request_key := NULL;
    NEW.request_body := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER shop_payer_gone BEFORE UPDATE OF payer_id ON shop_checkouts
    FOR EACH ROW WHEN (OLD.payer_id IS NOT NULL AND NEW.payer_id IS NULL) EXECUTE FUNCTION shop_payer_gone();
