"""The GeoIP database's file."""
