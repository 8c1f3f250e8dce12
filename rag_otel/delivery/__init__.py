"""Delivery of results and alerts: queues, their copies on disk, retries, HTTP."""
