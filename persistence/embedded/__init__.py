"""The embedded PostgreSQL: a cluster in the data folder that the server creates, runs and stops itself."""
