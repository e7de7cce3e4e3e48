"""The steps of every request, from the router to the response."""
