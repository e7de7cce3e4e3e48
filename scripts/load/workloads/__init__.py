"""What can be loaded: one module a part of the service."""
