"""What the readers of live calls, of spans and of data sets share: usual names, paths into objects, JSON in texts, rows
of files."""
