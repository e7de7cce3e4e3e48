"""What must hold for the project as a whole (layers, sizes, names, documents), without a server."""
