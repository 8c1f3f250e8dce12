"""Text without a model: sentences, claims, words, and what each language needs for that."""
