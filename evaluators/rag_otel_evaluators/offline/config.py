"""Everything about an evaluation of files in one place: what the command line says and what `config.yaml` says.

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
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from rag_otel.errors import ConfigurationError, InputError

STANDARD_OUTPUT: Final = "-"
_PATHS: Final = ("data", "prompts", "cache", "output", "report")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ModelConfig(_Strict):
    """A language or embedding model, and what it may use."""

    model: str
    """`openai/gpt-4o-mini`, `ollama/...`, `local/<folder or hub name>`."""
    api_base: str | None = None
    """Address of a server that speaks OpenAI's protocol."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, where it is not the provider's usual one."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Handed to the provider as they are."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds for one call."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)


class JudgeConfig(ModelConfig):
    """Who judges. Beside models, `model` may be `embedded`, `hhem`, `hhem/<folder or hub name>`, or `cascade/` and the
    name of the judge that gets only what the embedded one is unsure of."""

    temperature: float = Field(default=0.0, ge=0)
    strategy: Literal["single", "two_step", "classifier"] = "single"
    """How a language model judges faithfulness: in one call, in two steps as RAGAS, or it only writes the statements
    and a classifier gives the verdicts."""
    classifier: str = "embedded"
    """Of the strategy `classifier`: `embedded`, `hhem` or `hhem/<folder or hub name>`."""
    reading: Literal["strict", "lenient"] = "strict"
    """What a language model counts as supported: what the chunks state, or what may be inferred too."""


class EvaluationConfig(_Strict):
    """An evaluation of a file. A name in place of a judge's or embedder's settings leaves them at their defaults."""

    data: Path | None = None
    """JSON Lines, CSV or Parquet."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Field (question, contexts, response, reference) -> name of its column, or path to it."""
    metrics: tuple[str, ...] = ("faithfulness",)
    judge: JudgeConfig = JudgeConfig(model="embedded")
    embedder: ModelConfig | None = None
    """For response_relevancy; None: one that needs no key."""
    language: str = "en"
    """Of the prompts."""
    prompts: Path | None = None
    """Folder of prompts of one's own, before the built-in ones."""
    concurrency: int = Field(default=20, ge=1)
    """Rows, and calls of each model, at once."""
    budget_usd: float | None = Field(default=None, gt=0)
    """US dollars that judges may cost; rows beyond have the reason `budget`. None: no limit."""
    cache: Path | bool = True
    """Where judges' answers are kept; True: beside the output; False: nowhere."""
    output: str = STANDARD_OUTPUT
    """File for the rows with their results; its ending says how it is written."""
    report: Path | None = None
    """Folder for the HTML report."""
    fail_under: dict[str, float] = Field(default_factory=dict)
    """Metric -> lowest mean in 0..1 that is good enough."""

    @field_validator("judge", "embedder", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return {"model": value} if isinstance(value, str) else value

    @field_validator("metrics", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, (list, tuple)):
            return value
        names = dict.fromkeys(name.strip() if isinstance(name, str) else name for name in names)
        names.pop("", None)
        if not names:
            raise ValueError("give at least one name")
        return tuple(names)

    @property
    def cache_path(self) -> Path | None:
        """Where judges' answers are kept; None: nowhere. Without an output file there is no place beside it."""
        if isinstance(self.cache, Path):
            return self.cache
        if not self.cache or self.output == STANDARD_OUTPUT:
            return None
        return Path(f"{self.output}.cache")


def make_config(values: dict[str, Any], *, source: str) -> EvaluationConfig:
    """The checked configuration. Raises ConfigurationError that names the setting and its `source`."""
    try:
        config = EvaluationConfig.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {_wording(problem)}" for problem in error.errors()[:3]
        )
        raise ConfigurationError(f"{source}: {problems}") from None
    if unknown := config.fail_under.keys() - set(config.metrics):
        raise ConfigurationError(f"{source}: fail_under: {', '.join(sorted(unknown))} is not among the metrics")
    for metric, least in config.fail_under.items():
        if not 0.0 <= least <= 1.0:
            raise ConfigurationError(f"{source}: fail_under: {metric} must be within 0..1, not {least}")
    return config


def _wording(problem: ErrorDetails) -> str:
    if problem["type"] != "extra_forbidden":
        return problem["msg"]
    table = {"judge": JudgeConfig, "embedder": ModelConfig}.get(str(problem["loc"][0]), EvaluationConfig)
    return f"unknown; there are: {', '.join(table.model_fields)}"


def read_config_file(path: Path) -> dict[str, Any]:
    """What a YAML file says. Paths in it are relative to its folder.

    Raises InputError for a file that cannot be read, ConfigurationError for what is no mapping of settings.
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
    return {name: _beside(path, value) if name in _PATHS else value for name, value in values.items()}


def _beside(file: Path, value: Any) -> Any:
    return str(file.parent / value) if isinstance(value, str) and value != STANDARD_OUTPUT else value
