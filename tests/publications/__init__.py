"""Tests of publications."""
