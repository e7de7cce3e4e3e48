"""What users keep with us beside their settings: rules, and the transactions that change it."""
