"""Tests of networks, hosts, domains and gateway routes."""
