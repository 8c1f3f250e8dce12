"""The content of an alert: its text, its evidence, its links."""
