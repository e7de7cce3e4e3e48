"""Running the service: health, metrics, documents, and what keeps its tables small."""
