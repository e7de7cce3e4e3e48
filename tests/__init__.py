"""The tests: one folder a layer or domain, `contract/` for the project as a whole, `support/` for what they share."""
