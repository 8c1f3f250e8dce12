"""Where results go: attributes and evaluation spans, Phoenix's annotations, users' feedback."""
