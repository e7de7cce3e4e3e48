"""Routes of services: an extension that a user runs on all of their game servers."""
