"""Reads stored spans and scores from Phoenix or from OTLP files.

phoenix_client   Phoenix's REST API, with paging
phoenix_spans    converts spans of a Phoenix project to the spans that were sent
otlp_files       OTLP/JSON files: one object, or one object per line
otlp_json        spans of one OTLP/JSON request
enriched_files   writes a copy of OTLP/JSON files with added attributes
assembly         groups spans by trace
scores           scores of traces in files or in Phoenix, for `rag-otel drift`
"""
