"""The edge's machinery: declarations, checks, carriers. Domains are mounted on it, and it names none of them."""
