"""Says in one line which extra is missing, before anything of it is imported."""

from __future__ import annotations

import importlib.util

from rag_otel.errors import ConfigurationError


def installed(module: str) -> bool:
    """Whether a module can be imported, found without importing it (its parent packages aside)."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # a parent package is missing; a module without a spec
        return False


def require_extra(extra: str, *modules: str, needed_by: str) -> None:
    """Raises ConfigurationError with the command to run where one of the extra's `modules` is not installed."""
    missing = [module for module in modules if not installed(module)]
    if missing:
        raise ConfigurationError(
            f"{needed_by} needs {', '.join(missing)}; install it with: pip install 'rag-otel[{extra}]'"
        )
