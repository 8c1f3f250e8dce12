"""Judging an answer before it leaves: the same evaluators as afterwards, within a deadline.

    rules      what an application asks for (`Guard`), and what it gets (`GuardVerdict`, `Guarded`)
    check      one evaluation that is waited for: on the worker, by the pipeline; its result is the trace's
    circuit    how many of them may be under way, and be overdue
    texts      the sentences of an answer that are unsupported: removed, or annotated
    results    another text put into a function's result
    verdicts   from evaluations to a verdict
    acting     from a verdict to what leaves
    streaming  the same, sentence by sentence
    calls      `@observe(guard=...)`
    entry      `guard()` and `guard_sync()`

Nothing in here raises into the application, but ConfigurationError while a `Guard` is made or a function is decorated.
"""
