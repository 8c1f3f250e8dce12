"""The metrics, one module each; the registry of their names; and code that they share."""
