"""Every exception that rag-otel raises to its callers.

    RagOtelError
    ├── ConfigurationError      a setting, a selector or a file is wrong: names the thing and the way out
    │   └── SelectorError       a selector of @observe cannot match the function that it decorates
    ├── InputError              data that cannot be read (a file that is not OTLP, a row without a response)
    ├── PermanentError          trying again will not help (401, 422, a malformed prompt)
    └── RetryableError          trying again may help (429, 503, a closed connection); may say when

None of them ever reaches a decorated function's caller: they are raised while decorating, by `instrument()`,
by the command line and inside the worker.
"""

from __future__ import annotations


class RagOtelError(Exception):
    """Base of every error here."""


class ConfigurationError(RagOtelError):
    """A setting, a selector or a file is wrong; the message names it and says how to mend it."""


class SelectorError(ConfigurationError):
    """A selector of `@observe` cannot match; the message lists the names that exist."""


class InputError(RagOtelError):
    """Data that cannot be read; the message names the file, the line and what was expected."""


class PermanentError(RagOtelError):
    """Trying again will not help."""


class RetryableError(RagOtelError):
    """Trying again may help."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds that the other side asked us to wait, None where it did not say."""
