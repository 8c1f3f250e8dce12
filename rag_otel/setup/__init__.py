"""How a process is set up, from top to bottom.

settings    `rag_otel.settings`: arguments, environment, defaults, and objects of the application's own
parts       `judging`: what reads, decides and evaluates, here or in workers
            `writing`: what writes results and ratings; `delivering`: who gets results, what watches them, who is told
connected   `compose`: all of them as one `runtime`
running     `running`: a provider is followed, threads are started
stopped     `instrument`: `uninstrument()`, `flush()`, the end of the process
"""
