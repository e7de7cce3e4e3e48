"""What many nodes would do, on paper: shares, healing, hand-overs, a hot conversation (`docs/scale.md`)."""
