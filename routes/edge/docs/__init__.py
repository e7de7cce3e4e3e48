"""The API descriptions that are made from the declarations: OpenAPI and AsyncAPI."""
