"""The command `rag-otel`: one module for each subcommand, one folder for each group of them."""
