"""Offline evaluation: a data set in, results, statistics and a report out."""
