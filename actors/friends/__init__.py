"""Friends: who they are, what they see of each other, and the live views that show it."""
