"""Recognises a Phoenix among the backends of a collector, so that its address need not be given a second time.

Without it spans would arrive with scores in their attributes, and without annotations.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final
from urllib.parse import urlsplit

from rag_otel.delivery.http import get
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.safety.guard import logger
from rag_otel.safety.redaction import public_address
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel_collectors.otlp.exporters.connection import BackendSettings
from rag_otel_collectors.otlp.settings import Configuration

_VERSION_PATH: Final = "/arize_phoenix_version"
"""Where Phoenix says its version, to everybody; others answer 404 or with a page."""
_VERSION: Final = re.compile(r"\d+\.\d+[\w.+-]*")
_TIMEOUT_S: Final = 3.0
_BEARER: Final = re.compile(r"bearer\s+(\S+)", re.IGNORECASE)


def with_phoenix(configuration: Configuration) -> Configuration:
    """The configuration with the Phoenix that is among its backends. As it is where the settings name one, where
    annotations are off, and where no backend is one. Asks every HTTP backend once, for 3 s at most."""
    settings = configuration.evaluation.settings
    if settings.phoenix_endpoint is not None or not settings.spans.annotations:
        return configuration
    for backend in configuration.backends:
        if backend.protocol == "http" and _is_phoenix(backend):
            return _with(configuration, backend)
    return configuration


def _is_phoenix(backend: BackendSettings) -> bool:
    base = phoenix_base_url(backend.endpoint)
    try:
        said = get(base + _VERSION_PATH, headers=backend.headers, timeout_s=_TIMEOUT_S)
    except (PermanentError, ValueError):  # a header that HTTP cannot carry fails where spans are sent, and is told
        return False
    except RetryableError as error:
        if urlsplit(base).port == 6006 or "phoenix" in (urlsplit(base).hostname or ""):
            logger.warning(
                "rag-otel: backend %s does not answer (%s); if it is a Phoenix, give its address for annotations: "
                "--set phoenix_endpoint=%s",
                public_address(backend.endpoint),
                error,
                public_address(base),
            )
        return False
    return _VERSION.fullmatch(said.decode("utf-8", "replace").strip()) is not None


def _with(configuration: Configuration, backend: BackendSettings) -> Configuration:
    evaluation = configuration.evaluation
    key = next((value for name, value in backend.headers.items() if name.lower() == "authorization"), "")
    bearer = _BEARER.fullmatch(key.strip())
    settings = dataclasses.replace(
        evaluation.settings,
        phoenix_endpoint=phoenix_base_url(backend.endpoint),
        phoenix_api_key=evaluation.settings.phoenix_api_key or (None if bearer is None else bearer[1]),
    )
    origins = {**evaluation.origins, "phoenix_endpoint": f"backend {backend.name}, which is a Phoenix"}
    return dataclasses.replace(
        configuration, evaluation=dataclasses.replace(evaluation, settings=settings, origins=origins)
    )
