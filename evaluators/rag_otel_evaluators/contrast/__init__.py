"""The contrast benchmark: pairs of answers that differ in one point, one faithful to its passages and one not.

Frozen, and for judging only; see README.md beside this file. `rag-otel judge check` runs it on any judge.
"""
