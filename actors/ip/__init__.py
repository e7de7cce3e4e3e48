"""The location of public IP addresses."""
