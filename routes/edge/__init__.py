"""The edge's machinery: declarations, checks, carriers. It knows no domain word; domains are mounted on it."""
