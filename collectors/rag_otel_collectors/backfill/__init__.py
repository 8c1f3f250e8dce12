"""Backfill: stored traces that have no score are read, judged, and their scores written where the traces are."""
