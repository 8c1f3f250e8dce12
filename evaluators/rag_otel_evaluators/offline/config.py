"""The configuration of an evaluation of files, from the command line and `config.yaml`.

data: answers.parquet
columns: {question: q, contexts: "pred.docs[*].text", response: pred.answer}
metrics: [faithfulness, context_precision]
judge: {model: openai/gpt-4o-mini, requests_per_minute: 500}
language: es
concurrency: 20
output: scored.parquet
report: report/
fail_under: {faithfulness: 0.8}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from pydantic import Field

from rag_otel.errors import ConfigurationError, InputError
from rag_otel_evaluators.judges.config import EvaluatorsConfig, checked
from rag_otel_evaluators.metrics.registry import DescribedMetric

STANDARD_OUTPUT: Final = "-"
_PATHS: Final = ("data", "prompts", "cache", "output", "report", "calibration_file")


class EvaluationConfig(EvaluatorsConfig):
    """The settings of an evaluation of a file."""

    data: Path | None = None
    """Input file: JSON Lines, CSV or Parquet."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Field (question, contexts, response, reference) -> name of its column, or path to it."""
    budget_usd: float | None = Field(default=None, gt=0)
    """Maximum cost of the judges in US dollars. Rows after the limit have the reason `budget`. None: no limit."""
    cache: Path | bool = True
    """The cache file of judges' answers. True: `<output>.cache`. False: no cache."""
    output: str = STANDARD_OUTPUT
    """Output file for the rows with their results. Its extension selects the format."""
    report: Path | None = None
    """Folder for the HTML report."""
    fail_under: dict[str, float] = Field(default_factory=dict)
    """Metric -> lowest acceptable mean, in 0..1. For a metric that is better when it is lower, the highest one."""
    max_lost: float = Field(default=0.1, ge=0, le=1)
    """Largest acceptable share of rows that have no score because judging failed or stopped, for each metric."""
    allow_bad_rows: bool = False
    """Whether rows that cannot be read, or lack a field that a metric needs, are acceptable."""
    calibration_file: Path | None = None
    """A file of `rag-otel labels calibrate`, applied to every result, as in live traffic."""
    aspects: dict[str, str] = Field(default_factory=dict)
    """Name of a metric -> a question about the response that the judge answers with yes or no."""
    rubrics: dict[str, dict[int | str, str]] = Field(default_factory=dict)
    """Name of a metric -> its levels, each with what it means."""

    @property
    def described(self) -> tuple[DescribedMetric, ...]:
        """The aspects and rubrics."""
        from rag_otel_evaluators.metrics.critics import Aspect, Rubric

        aspects = (Aspect(name=name, definition=text) for name, text in self.aspects.items())
        rubrics = (
            Rubric(name=name, levels={str(level): text for level, text in levels.items()})
            for name, levels in self.rubrics.items()
        )
        return (*aspects, *rubrics)

    @property
    def cache_path(self) -> Path | None:
        """The cache file of judges' answers. None: no cache, also if the output is standard output and no file is
        given."""
        if isinstance(self.cache, Path):
            return self.cache
        if not self.cache or self.output == STANDARD_OUTPUT:
            return None
        return Path(f"{self.output}.cache")


def make_config(values: dict[str, Any], *, source: str) -> EvaluationConfig:
    """Builds and validates the configuration. Raises ConfigurationError that names the setting and its `source`."""
    config = checked(EvaluationConfig, values, source=source)
    if unknown := config.fail_under.keys() - {*config.metrics, *config.aspects, *config.rubrics}:
        raise ConfigurationError(f"{source}: fail_under: {', '.join(sorted(unknown))} is not among the metrics")
    for metric, least in config.fail_under.items():
        if not 0.0 <= least <= 1.0:
            raise ConfigurationError(f"{source}: fail_under: {metric} must be within 0..1, not {least}")
    return config


def read_config_file(path: Path) -> dict[str, Any]:
    """Reads the settings of a YAML file. Paths in the file are relative to its folder.

    Raises InputError if the file cannot be read, ConfigurationError if it is not a mapping of settings.
    """
    try:
        import yaml
    except ImportError as error:
        raise ConfigurationError(
            f"configuration files need PyYAML ({error}); install it with: pip install 'rag-otel[files]'"
        ) from None
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise ConfigurationError(f"{path}: is not a mapping of settings, but a {type(values).__name__}")
    return {name: _relative_to(path, value) if name in _PATHS else value for name, value in values.items()}


def _relative_to(file: Path, value: Any) -> Any:
    return str(file.parent / value) if isinstance(value, str) and value != STANDARD_OUTPUT else value
