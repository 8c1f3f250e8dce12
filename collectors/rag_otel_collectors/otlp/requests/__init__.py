"""Serialised spans: reading, splitting and joining requests, and appending attributes without decoding the whole."""
