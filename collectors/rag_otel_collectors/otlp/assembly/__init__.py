"""Spans of live traces are held, on disk as well, until their trace is complete."""
