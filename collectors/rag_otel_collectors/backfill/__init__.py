"""Backfill: reads stored traces without scores, evaluates them, and writes the scores to the same store."""
