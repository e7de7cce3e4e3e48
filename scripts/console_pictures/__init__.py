"""The pictures of the console in the documentation."""
