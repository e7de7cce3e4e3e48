"""What every request goes through, from the router to the answer."""
