"""Reports as rows."""
