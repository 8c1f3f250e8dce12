"""What stands between a metric and a language model: parsing, retries, limits, a breaker, a cache.

Nothing here knows a provider: a `Transport` carries one call, `ResilientModel` makes a `StructuredModel` of it.
"""
