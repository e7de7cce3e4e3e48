"""Chat: its rules as tables, its properties, its rows on a real database."""
