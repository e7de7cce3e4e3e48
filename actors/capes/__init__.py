"""Capes: their states, their pictures, and which user wears which."""
