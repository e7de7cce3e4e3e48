"""Operating the service: health, metrics, API documents, and jobs that keep its tables small."""
