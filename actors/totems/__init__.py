"""Totems: models that users upload, share in a gallery, and carry (service-api §4, contract §8)."""
