"""What the declarations say of themselves: OpenAPI, AsyncAPI."""
