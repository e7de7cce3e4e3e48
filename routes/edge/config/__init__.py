"""Settings: what there is, how it is read, what is wrong with it."""
