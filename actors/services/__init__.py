"""Services: an extension that a user runs on all of their game servers."""
