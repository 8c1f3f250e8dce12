"""`phoenix.otel.register` as the distribution arize-phoenix-otel alone gives it.

With Phoenix's server installed too, the package `phoenix` imports that server first, which takes 15 s of CPU time.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any


def _register() -> Any:
    spec = importlib.util.find_spec("phoenix")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = ModuleType("phoenix")
    package.__path__ = list(spec.submodule_search_locations)
    before = sys.modules.setdefault("phoenix", package)
    try:
        return importlib.import_module("phoenix.otel").register
    finally:
        if before is package:
            del sys.modules["phoenix"]


register = _register()
