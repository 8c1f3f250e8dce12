"""How a process is set up, from top to bottom.

settings    `rag_otel.settings`: arguments, environment, defaults
parts       `parts`: objects of the application's own
            `judging`: what reads, decides and evaluates, here or in workers
            `delivering`: what becomes of results; `watching`: what raises alerts
connected   `compose`: all of them as one `runtime`
running     `running`: a provider is followed, threads are started
stopped     `instrument`: `uninstrument()`, `flush()`, the end of the process
"""
