"""Serialised spans: read, cut out and appended to in place, without decoding the rest."""
