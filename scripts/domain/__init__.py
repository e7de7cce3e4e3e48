"""`scripts/new-domain`: a new domain begins as a small whole one, in every layer, with its tests green."""
