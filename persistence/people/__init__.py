"""What users keep with us beside their own row, as rows."""
