"""The rows of capes."""
