"""Libraries for browsers that lie in the repository, byte for byte as npm has them."""
