"""The rows of services: which extension a user runs on all of their game servers."""
