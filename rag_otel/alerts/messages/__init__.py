"""What an alert says: its text, its evidence, its links."""
