"""Profiles that are shared, levels, options, public users, and forgetting users."""
