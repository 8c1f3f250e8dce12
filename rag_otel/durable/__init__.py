"""Logs on disk that outlive the process: spans that wait for their scores or for their backend."""
