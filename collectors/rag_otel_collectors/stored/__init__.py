"""Reads spans and scores that are stored already: in Phoenix, or in OTLP files.

phoenix_client   Phoenix's REST API, page by page
phoenix_spans    spans of a Phoenix project, as they were sent
otlp_files       OTLP/JSON files, one object or one a line
otlp_json        one span of OTLP/JSON
enriched_files   OTLP/JSON files, written again with scores
assembly         groups spans by trace
scores           scores of traces, from files or Phoenix, for `rag-otel drift`
"""
