"""Tests of games."""
