"""The workloads: a module for each part of the service that is loaded."""
