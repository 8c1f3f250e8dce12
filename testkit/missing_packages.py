"""An environment for programs in which some packages are not installed, although they are here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

EXTRAS: Final = (
    *(
        "aio_pika",
        "aiohttp",
        "aiormq",
        "apprise",
        "confluent_kafka",
        "dask",
        "faststream",
        "grpc",
        "litellm",
        "llguidance",
    ),
    *("nats", "phoenix", "prometheus_client", "pyarrow", "redis", "safetensors", "sentence_transformers", "torch"),
    *("transformers", "uvicorn", "yaml"),
)
"""What the extras bring."""

_HIDES = """
import importlib.abc, sys

class Hides(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Hides())
"""


def without(packages: Iterable[str], folder: Path) -> dict[str, str]:
    """The environment of a program that cannot import these packages. `folder` holds what hides them."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_HIDES.format(hidden=set(packages)), encoding="utf-8")
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path}
