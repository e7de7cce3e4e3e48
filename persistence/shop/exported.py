"""Which rows about the shop go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "shop_checkouts",
        "payer_id = $1",
        leaves=("request_key", "request_body", "session_ref", "url"),
    ),
    # Whoever is given something is not shown by whom, and how it was paid for.
    Exported(
        "shop_purchases",
        "payer_id = $1 OR recipient_id = $1",
        leaves=("seq", "grants_digest"),
        owner="payer_id",
        owners=("payer_id", "checkout_id", "provider_ref"),
    ),
    Exported("shop_entitlements", "user_id = $1"),
)
