"""Capes: what may become of one, their pictures, and who wears which."""
