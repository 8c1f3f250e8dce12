"""The metrics: one module each, the registry that names them, and what they share."""
