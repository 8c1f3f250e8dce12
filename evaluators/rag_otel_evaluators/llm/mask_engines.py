"""Optional engines that find more to mask than keys and patterns do: Presidio, or an object of your own.

JudgeSettings(mask_engine="presidio")              # Presidio's patterns; no model is loaded
JudgeSettings(mask_engine=PresidioEngine(analyzer)) # an AnalyzerEngine of your own, with names and places
JudgeSettings(mask_engine="my_package.masking:engine")
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel.safety.extras import installed
from rag_otel.safety.masking import MaskEngine

PRESIDIO: Final = "presidio"
LEAST_SCORE: Final = 0.4
_LEFT_OUT: Final = frozenset({"EMAIL_ADDRESS", "URL", "DATE_TIME"})
"""Of Presidio's patterns. The first two ask the network for a list of domains, and our own class `email` finds the
first; a judge needs dates to compare them."""


class PresidioEngine:
    """A `MaskEngine` over `presidio_analyzer` (https://microsoft.github.io/presidio). Imports it."""

    def __init__(self, analyzer: Any = None, *, language: str = "en", least_score: float = LEAST_SCORE) -> None:
        """`analyzer`: an `AnalyzerEngine`; None: Presidio's patterns and its phone numbers, without a language model.
        `least_score`: Presidio's confidence in 0..1 from which a value is masked. Raises ConfigurationError."""
        if analyzer is None and not installed("presidio_analyzer"):
            raise ConfigurationError(
                "mask_engine 'presidio' needs presidio_analyzer; install it with: pip install presidio-analyzer"
            )
        self._analyzer = _patterns_alone(language) if analyzer is None else analyzer
        self._language = language
        self._least_score = least_score

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """See `MaskEngine.find`."""
        for found in self._analyzer.analyze(text=text, language=self._language, score_threshold=self._least_score):
            yield found.start, found.end, found.entity_type


def engine_of(setting: Any) -> MaskEngine | None:
    """The engine that a setting names: None, `presidio`, `module:name`, or the engine itself. Raises
    ConfigurationError."""
    engine = _named(setting) if isinstance(setting, str) else setting
    if engine is not None and not isinstance(engine, MaskEngine):
        raise ConfigurationError(f"mask_engine {setting!r} has no method `find(text)`; see rag_otel.safety.masking")
    return engine


@functools.cache
def _named(name: str) -> Any:
    """One engine for a name, which judge and embedder share."""
    if name == PRESIDIO:
        return PresidioEngine()
    module, separator, attribute = name.partition(":")
    if not (module and separator and attribute):
        raise ConfigurationError(f"mask_engine {name!r}: write `{PRESIDIO}` or `module:name`")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"mask_engine {name!r} cannot be loaded: {error}") from None


def _patterns_alone(language: str) -> Any:
    """Presidio's recognizers of patterns. A blank spaCy pipeline cuts the words; nothing is downloaded."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, PatternRecognizer, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_analyzer.predefined_recognizers import PhoneRecognizer

    words = SpacyNlpEngine(models=[{"lang_code": language, "model_name": "blank"}])
    words.nlp = {language: spacy.blank(language)}
    registry = RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers(languages=[language])
    registry.recognizers = [
        each
        for each in registry.recognizers
        if isinstance(each, PatternRecognizer | PhoneRecognizer) and not _LEFT_OUT & set(each.supported_entities)
    ]
    return AnalyzerEngine(registry=registry, nlp_engine=words, supported_languages=[language])
