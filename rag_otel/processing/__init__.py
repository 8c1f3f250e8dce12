"""The span processor: which spans belong together, which one is held, and how it leaves with its scores."""
