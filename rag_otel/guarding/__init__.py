"""Judging an answer before it leaves: the same evaluators as afterwards, within a deadline.

rules                  what an application asks for (`Guard`), what it gets (`GuardVerdict`, `Guarded`), its verdict
entry                  `guard()`, `guard_sync()`, and `@observe(guard=...)`, where the guard is the gate of a call
guarded_call           from a verdict to what leaves
streaming              the same, sentence by sentence
check                  one evaluation that is waited for: on the worker, by the pipeline; its result is the trace's.
                       How many may be under way, and be overdue
replacement            what the application puts in an answer's place
unsupported_sentences  found, removed, annotated
stream_buffer          what a stream has said, and what is held back of it
rewriting              another text put into a function's result

All of it is written once, as coroutines. For a caller that blocks they wait in place (`run_in_place`).
Nothing in here raises into the application, but ConfigurationError while a `Guard` is made or a function is decorated.
"""
