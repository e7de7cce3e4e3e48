"""The shop: what is sold, who has paid for what, and the rights that follow from it."""
