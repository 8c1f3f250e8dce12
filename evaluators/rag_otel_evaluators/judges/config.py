"""Which metrics are computed, by which judge: the configuration that `rag_otel_evaluators.build` makes evaluators of.

The same for live traffic and for files; `offline/config.py` adds what files need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from rag_otel.errors import ConfigurationError
from rag_otel.settings.judge_names import judge_problem


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
    """The two caps hold for this process alone. What would wait longer than its evaluation lasts is not asked."""


class JudgeConfig(ModelConfig):
    """Who judges. Beside models, `model` may be `embedded`, `hhem`, `hhem/<folder or hub name>`,
    `decisions/<provider>/<model>`, or `cascade/` and the name of the judge that gets only what the embedded one is
    unsure of."""

    mask: tuple[str, ...] = ("secrets",)
    """What is masked before it leaves: `secrets`, `email`, `phone`, `iban`, `card`, `ip`, `ssn`; `none` alone for
    nothing. Of the embedder too."""
    mask_engine: Any = None
    """Finds more: `presidio`, `module:object`, or an object (`rag_otel.safety.masking.MaskEngine`)."""
    record_file: Path | None = None
    """File that shows what left for which judge."""
    temperature: float = Field(default=0.0, ge=0)
    strategy: Literal["single", "two_step", "classifier"] = "single"
    """How a language model judges faithfulness: in one call, in two steps as RAGAS, or it only writes the statements
    and a classifier gives the verdicts."""
    classifier: str = "embedded"
    """Of the strategy `classifier`: `embedded`, `hhem` or `hhem/<folder or hub name>`."""
    reading: Literal["strict", "lenient"] = "strict"
    """What a language model counts as supported: what the chunks state, or what may be inferred too."""
    samples: int = Field(default=1, ge=1, le=20)
    """How often a language model judges each claim; above 1 its confidence is the share that agrees."""
    most_claims: int = Field(default=60, ge=1)
    """Claims of an answer that a language model or a decision model judges; of more, the first."""
    input_price: float | None = Field(default=None, ge=0)
    """US dollars for a million tokens of input of a decision model, instead of the price that is known."""
    check_end: bool = True
    """Whether a decision model is asked about the end of what it was sent, to notice that it did not read it all."""

    @field_validator("model")
    @classmethod
    def _named(cls, value: str) -> str:
        if (problem := judge_problem(value)) is not None:
            raise ValueError(problem)
        return value

    @field_validator("mask", mode="before")
    @classmethod
    def _classes(cls, value: Any) -> Any:
        return tuple(value.split(",")) if isinstance(value, str) else value


class EvaluatorsConfig(_Strict):
    """Metrics and their judge. A name in place of a judge's or embedder's settings leaves them at their defaults."""

    metrics: tuple[str, ...] = ("faithfulness",)
    judge: JudgeConfig = JudgeConfig(model="embedded")
    embedder: ModelConfig | None = None
    """For response_relevancy; None: one that needs no key."""
    language: str = "en"
    """Of the prompts."""
    prompts: Path | None = None
    """Folder of prompts of one's own, before the built-in ones."""
    concurrency: int = Field(default=20, ge=1)
    """Calls of each model at once."""

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


C = TypeVar("C", bound=EvaluatorsConfig)


def checked(kind: type[C], values: dict[str, Any], *, source: str) -> C:
    """The configuration that `values` give. Raises ConfigurationError that names the setting and its `source`."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {_wording(problem, kind)}" for problem in error.errors()[:3]
        )
        raise ConfigurationError(f"{source}: {problems}") from None


def _wording(problem: ErrorDetails, kind: type[EvaluatorsConfig]) -> str:
    if problem["type"] != "extra_forbidden":
        return problem["msg"].removeprefix("Value error, ")
    table = {"judge": JudgeConfig, "embedder": ModelConfig}.get(str(problem["loc"][0]), kind)
    return f"unknown; there are: {', '.join(table.model_fields)}"
