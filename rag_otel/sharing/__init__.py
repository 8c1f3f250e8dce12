"""One monitor for the processes of a host: each appends what it observed to a log, and an elected leader reads all."""
