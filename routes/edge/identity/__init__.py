"""Who is calling: tokens of users, credentials, the keys behind them."""
