"""Discord webhooks of networks: the routes about them, the requests to Discord, and the worker that posts."""
