"""What `collect` and `work` share: their options, and the settings as they are printed."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping
from typing import Any, Final

from rag_otel.cli.recognised_phoenix import with_phoenix
from rag_otel.cli.terminal import table
from rag_otel.safety import redaction
from rag_otel.safety.guard import logger
from rag_otel.settings.unknown import unread_variables
from rag_otel_collectors.otlp import settings as collector_settings
from rag_otel_collectors.otlp.settings import Configuration

_SET_BY: Final = ("argument", "environment", "file")
"""How the origin of a setting begins that somebody set: Phoenix's address may be derived from a backend."""


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
