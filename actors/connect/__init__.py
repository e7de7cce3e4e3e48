"""Game servers: each is an owner; what they prove themselves with, who has claimed them, and who plays on them."""
