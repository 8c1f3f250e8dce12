"""Spans and scores that are stored already: in Phoenix, or in OTLP files."""
