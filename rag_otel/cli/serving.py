"""What `collect` and `work` share: their options, the configuration that these make, and how it is printed.

A Phoenix among the backends is recognised, so that its address need not be given a second time: without it spans would
arrive with scores in their attributes, and without annotations.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import re
import sys
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from rag_otel.cli.terminal import table
from rag_otel.delivery.http import get
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.safety import redaction
from rag_otel.safety.guard import logger
from rag_otel.safety.redaction import public_address
from rag_otel.settings.unknown import unread_variables
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel_collectors.otlp import settings as collector_settings
from rag_otel_collectors.otlp.exporters.connection import BackendSettings
from rag_otel_collectors.otlp.settings import Configuration

_SET_BY: Final = ("argument", "environment", "file")
"""How the origin of a setting begins that somebody set: Phoenix's address may be derived from a backend."""
_VERSION_PATH: Final = "/arize_phoenix_version"
"""Where Phoenix says its version, to everybody; others answer 404 or with a page."""
_VERSION: Final = re.compile(r"\d+\.\d+[\w.+-]*")
_TIMEOUT_S: Final = 3.0
"""For its answer."""
_BEARER: Final = re.compile(r"bearer\s+(\S+)", re.IGNORECASE)


def serving_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="settings file in TOML: [collector], [evaluation], [[backends]]"
    )
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="others", help="any other setting, by its name"
    )
    parser.add_argument("--check", action="store_true", help="print the settings in effect and exit")


def configuration_of(arguments: argparse.Namespace, given: Mapping[str, Any]) -> Configuration:
    """Every setting: `given` and those of `--set` before the file's. Begins to log. Raises ConfigurationError."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    named = {**given, **collector_settings.named_values(arguments.others)}
    configuration = with_phoenix(collector_settings.configure(named, file=arguments.config))
    redaction.remember(configuration.secrets)
    if unread := unread_variables(collector_settings.every_row()):
        logger.warning("rag-otel: no setting reads the environment's %s", ", ".join(unread))
    return configuration


def print_settings(configuration: Configuration) -> None:
    """All of them, for `--check`."""
    for part, rows in configuration.rows().items():
        print(f"{part}\n{table(rows)}", flush=True)


def backends_line(configuration: Configuration, does: str) -> str:
    """`forwards to: NAME ADDRESS, ...`."""
    return f"{does}: {', '.join(' '.join(row[:2]) for row in configuration.rows()['backends'])}"


def settings_line(configuration: Configuration, command: str) -> str:
    """How many settings were set, and where to see them all."""
    parts = configuration.rows()
    changed = [row for part in ("collector", "evaluation") for row in parts[part] if row[2].startswith(_SET_BY)]
    return f"settings: {len(changed)} were set; rag-otel {command} --check prints all"


# --- a Phoenix among the backends -----------------------------------------------------------------------------------


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
