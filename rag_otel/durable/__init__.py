"""Logs on disk that outlive the process: traces to be evaluated, messages and results to be delivered, dead letters."""
