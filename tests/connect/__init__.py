"""Tests of game servers."""
