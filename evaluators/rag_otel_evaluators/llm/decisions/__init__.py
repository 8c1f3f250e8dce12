"""Decision models: typed questions about a state, answered with probabilities. Their forms, providers and transport."""
