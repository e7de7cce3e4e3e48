"""`scripts/siege`: what one hostile client does to everybody else."""
