"""Judges: the embedded one, language and decision models, HHEM, local models, a cascade, a cache."""
