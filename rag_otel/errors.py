"""Every exception that rag-otel raises to its callers.

    RagOtelError
    ├── ConfigurationError      a setting, a selector or a file is wrong; the message names it and the remedy
    │   └── SelectorError       a selector of @observe cannot match the function that it decorates
    ├── InputError              data that cannot be read (a file that is not OTLP, a row without a response)
    ├── PermanentError          a retry will not help (401, 422, a malformed prompt)
    └── RetryableError          a retry may help (429, 503, a closed connection); may hold the waiting time
        └── LedgerError         the store of budgets cannot be reached

None of them reaches the caller of a decorated function. They are raised while a function is decorated, by
`instrument()`, by the commands, and inside the worker.
"""

from __future__ import annotations


class RagOtelError(Exception):
    """Base class of every error of rag-otel."""


class ConfigurationError(RagOtelError):
    """A setting, a selector or a file is wrong. The message names it and says how to correct it."""


class SelectorError(ConfigurationError):
    """A selector of `@observe` cannot match. The message lists the names that exist."""


class InputError(RagOtelError):
    """Data cannot be read. The message names the file, the line and what was expected."""


class PermanentError(RagOtelError):
    """The operation failed, and a retry will not help."""


class RetryableError(RagOtelError):
    """The operation failed, and a retry may help."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds to wait, as the server asked. None if it did not."""


class LedgerError(RetryableError):
    """The store in which processes share budgets or answers cannot be reached."""
