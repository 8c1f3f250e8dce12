"""HHEM-2.1-Open from its published files, by our own code: nothing of the checkpoint's repository is executed.

The checkpoint (https://huggingface.co/vectara/hallucination_evaluation_model) is a T5 encoder with a classifier over
two classes on every token. Its own loading code does not run under transformers 5; but the network is transformers'
`T5ForTokenClassification`, and the shapes of its tensors say everything about its configuration that matters.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import ConfigurationError

try:
    import torch
    from huggingface_hub import hf_hub_download
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    from transformers import T5Config, T5ForTokenClassification
except ImportError as error:
    raise ConfigurationError(
        f"the judge hhem needs torch, transformers and safetensors ({error}); "
        "install them with: pip install 'rag-otel[hhem]'"
    ) from None

PUBLISHED_MODEL: Final = "vectara/hallucination_evaluation_model"
PUBLISHED_PROMPT: Final = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
)
PUBLISHED_FOUNDATION: Final = "google/flan-t5-base"

_SHARED: Final = "transformer.shared.weight"
_EMBED_TOKENS: Final = "transformer.encoder.embed_tokens.weight"
_BLOCK: Final = re.compile(r"transformer\.encoder\.block\.(\d+)\.")
_ATTENTION: Final = "transformer.encoder.block.0.layer.0.SelfAttention."
_FEED_FORWARD: Final = "transformer.encoder.block.0.layer.1.DenseReluDense."


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTemplate:
    """What the network reads is `before + premise + between + hypothesis + after`."""

    before: str
    between: str
    after: str

    @classmethod
    def parse(cls, template: str) -> PairTemplate:
        """Split a template with {text1} (premise) before {text2} (hypothesis). Raises ConfigurationError."""
        before, first, rest = template.partition("{text1}")
        between, second, after = rest.partition("{text2}")
        if not (first and second):
            raise ConfigurationError(f"the prompt of the hhem model must hold {{text1}} and {{text2}}: {template!r}")
        return cls(before=before, between=between, after=after)

    def fill(self, premise: str, hypothesis: str) -> str:
        return f"{self.before}{premise}{self.between}{hypothesis}{self.after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A network that is ready to judge, with its tokenizer and its prompt."""

    network: T5ForTokenClassification
    """On its device, in 32-bit floats, not training."""
    tokenizer: Tokenizer
    prompt: PairTemplate
    fingerprint: str
    """8 hex digits of the weights' SHA-256: another one judges differently."""

    def consistency(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """One forward pass: for each row of token ids the softmax, over two classes, of its first token's class 1."""
        longest = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self.network.device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self.network.device)
        with torch.inference_mode():
            logits = self.network(input_ids=ids, attention_mask=mask).logits[:, 0, :]
            probabilities: list[float] = torch.softmax(logits, dim=-1)[:, 1].tolist()
        return probabilities


def load_checkpoint(model: str | Path, *, revision: str | None = None, device: str | None = None) -> Checkpoint:
    """Load from a folder (config.json, model.safetensors, tokenizer.json) or from the Hugging Face hub.

    Where the checkpoint has no tokenizer.json, its foundation model's is taken from the hub. `device` is torch's name;
    None takes a CUDA device where there is one. Raises ConfigurationError for files that are missing or not HHEM's.
    """
    config = json.loads(_find(model, "config.json", revision).read_text(encoding="utf-8"))
    weights = _find(model, "model.safetensors", revision)
    network = _build_network(_read_weights(weights))
    return Checkpoint(
        network=network.to(device or ("cuda" if torch.cuda.is_available() else "cpu")),
        tokenizer=_load_tokenizer(model, revision, config.get("foundation", PUBLISHED_FOUNDATION)),
        prompt=PairTemplate.parse(config.get("prompt", PUBLISHED_PROMPT)),
        fingerprint=_fingerprint(weights),
    )


def _find(model: str | Path, name: str, revision: str | None) -> Path:
    """The file `name` of a local folder or of a repository on the hub."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / name).is_file():
            raise ConfigurationError(f"{folder} holds no {name}: it is no HHEM checkpoint")
        return folder / name
    try:
        return Path(hf_hub_download(str(model), name, revision=revision))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{model} is no folder, and {name} could not be had from the Hugging Face hub "
            f"({type(error).__name__}); download the model and give its folder"
        ) from error


def _load_tokenizer(model: str | Path, revision: str | None, foundation: str) -> Tokenizer:
    try:
        path = _find(model, "tokenizer.json", revision)
    except ConfigurationError:
        try:
            path = _find(foundation, "tokenizer.json", None)
        except ConfigurationError as error:
            raise ConfigurationError(f"{model} has no tokenizer.json: put that of {foundation} there") from error
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors by the names that `T5ForTokenClassification` has for them."""
    try:
        weights = {name.removeprefix("t5."): tensor.float() for name, tensor in load_file(path).items()}
    except SafetensorError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    # safetensors stores a tied tensor once, under either name.
    for name, other in ((_SHARED, _EMBED_TOKENS), (_EMBED_TOKENS, _SHARED)):
        if other in weights:
            weights.setdefault(name, weights[other])
    return weights


def _build_network(weights: Mapping[str, torch.Tensor]) -> T5ForTokenClassification:
    """The network that these tensors are the weights of, exactly: none missing, none left over."""
    try:
        with torch.device("meta"):  # no memory and no time for random numbers that are replaced at once
            network = T5ForTokenClassification(_configuration(weights))
        network.load_state_dict(dict(weights), strict=True, assign=True)
    except (KeyError, RuntimeError) as error:
        raise ConfigurationError(f"these are not the weights of an HHEM model: {error}") from error
    return network.eval()


def _configuration(weights: Mapping[str, torch.Tensor]) -> T5Config:
    """flan-t5's configuration at the size that the tensors have. Raises KeyError for other tensors."""
    vocabulary, width = weights[_SHARED].shape
    buckets, heads = weights[_ATTENTION + "relative_attention_bias.weight"].shape
    shape: dict[str, Any] = {
        "vocab_size": vocabulary,
        "d_model": width,
        "d_kv": weights[_ATTENTION + "q.weight"].shape[0] // heads,
        "d_ff": weights[_FEED_FORWARD + "wi_0.weight"].shape[0],
        "num_heads": heads,
        "num_layers": 1 + max(int(block[1]) for name in weights if (block := _BLOCK.match(name))),
        "relative_attention_num_buckets": buckets,
        "num_labels": weights["classifier.weight"].shape[0],
    }
    return T5Config(**shape, feed_forward_proj="gated-gelu")


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:8]
