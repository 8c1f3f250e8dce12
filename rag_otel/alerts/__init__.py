"""Alerts: rules and monitors that find problems, the inbox that decides what is told when, messages, channels."""
