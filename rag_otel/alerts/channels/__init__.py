"""Alert channels, one a module: where an alert is sent, and in what form."""
