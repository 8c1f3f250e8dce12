"""What outlives the process, on disk: logs for what is large, one SQLite file for what is small and shared.

    record_format, segment_files, segments, damage    a log: its records, reading, writing, and what cannot be read
    journal          on a log: what was accepted and is not done. The collector's held spans, queues of results, and
    kept_traces      the traces to be evaluated (left_traces, trace_records, span_codec)
    process_logs     a log for each process, which another one reads: what the processes of a host observed
    dead_letters     a file for each thing that was refused for good
    database         the SQLite file: budgets, the judge's cache, and
    named_states     what drift, monitors and alerts go on with after a restart
    state_folder     which process has which part of a folder, and the version of all that is in it

The collector's outbox and the messages that it has taken are logs without a journal. Who changes how a record stands in
a file, what a value of a journal is, or the layout of a folder, raises `state_folder.FORMAT`; who changes a table,
`database.VERSION`.
"""
