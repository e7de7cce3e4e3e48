"""Discord webhooks of networks: what is posted, in which words, and what an answer means for the webhook."""
