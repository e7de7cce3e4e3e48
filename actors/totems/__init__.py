"""Totems: models that users upload, share in a gallery, and equip (service-api §4, contract §8)."""
