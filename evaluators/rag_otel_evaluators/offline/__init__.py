"""Offline evaluation of data sets: reading rows, evaluating them, statistics and a report."""
