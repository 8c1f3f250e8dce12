"""Judges against people: agreement with labels, and calibrations fitted to them."""
