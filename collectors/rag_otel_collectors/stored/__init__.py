"""Reads stored spans and scores from Phoenix or from OTLP files.

phoenix_client    Phoenix's REST API, with paging
restored_spans    makes of a Phoenix project's spans the spans that were sent
project           a project, or the part of it between two times: its traces, in batches
otlp_files        OTLP/JSON files: one object, or one object per line
enriched_files    writes a copy of OTLP/JSON files with added attributes
assembly          groups spans by trace
results           what judges said of a span, in both forms that results are stored in
annotated_spans   answers with everything that judges and people said of them
answers, labels, scores, sessions, review_queue    what each command reads from these
"""
