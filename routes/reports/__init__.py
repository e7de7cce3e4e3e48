"""What users tell moderators."""
