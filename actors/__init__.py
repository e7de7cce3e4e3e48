"""What is true: pure rules, and where state is live, the actors that run them. No HTTP, no SQL, no status codes."""
