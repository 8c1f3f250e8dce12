"""A Hugging Face causal model in this process as a `StructuredModel`, for machines without any server.

Slow on a processor, good on a GPU; a server (vLLM, Ollama, llama.cpp) through `judges.llm` answers many at once and is
to be preferred where there is one. What the model writes is held to the schema (`local_json`), so even a very small
one returns objects that validate. Needs the extra `local`; nothing of a checkpoint's own code is run.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import ConfigurationError
from rag_otel.model import Usage
from rag_otel_evaluators.judges.local_json import JsonWriting, TokenRules, bounded_schema, closing_tokens
from rag_otel_evaluators.judges.local_thread import ModelThread
from rag_otel_evaluators.llm.cache import AnswerCache
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.modes import with_schema
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.llm.transport import ChatRequest, Reply

try:
    import torch
    from jinja2 import TemplateError
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
except ImportError as error:
    raise ConfigurationError(
        f"a model in this process needs torch, transformers and llguidance ({error}); "
        "install them with: pip install 'rag-otel[local]'"
    ) from None

LONGEST_STRING: Final = 600
"""Characters of a string that its schema leaves unbounded."""
LONGEST_ANSWER: Final = 2048
"""Tokens of an answer for which no budget was given."""
_OPENED_THOUGHTS: Final = re.compile(r"<(think|thinking|reasoning)>\s*\Z")
_ROLE_NAMES: Final = {"system": "Instructions", "user": "Question", "assistant": "Answer"}


def local_model(
    model: str | Path,
    *,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "auto",
    timeout_s: float = 600.0,
    longest_string: int = LONGEST_STRING,
    cache: AnswerCache | None = None,
) -> ResilientModel:
    """Load a causal model from a folder or the Hugging Face hub; takes seconds to minutes, so at start-up.

    `device` is torch's name, None takes a CUDA device where there is one; `dtype` is torch's name or `auto`, as the
    checkpoint was saved; `longest_string` bounds, in characters, every string of an answer whose schema does not.
    One call at a time; `timeout_s` is for a call, not for the wait before it.

    Raises ConfigurationError where the extra is not installed or the model cannot be loaded.
    """
    transport = LocalTransport(model, revision=revision, device=device, dtype=dtype, longest_string=longest_string)
    return ResilientModel(
        transport,
        timeout_s=timeout_s,
        retry=RetryPolicy(attempts=1),  # the same tokens would come out again
        limits=RateLimits(concurrency=1),
        cache=cache,
        egress=None,  # nothing leaves this process
    )


class LocalTransport:
    """One answer at a time by a causal model, greedily, within the schema."""

    def __init__(
        self,
        model: str | Path,
        *,
        revision: str | None = None,
        device: str | None = None,
        dtype: str = "auto",
        longest_string: int = LONGEST_STRING,
    ) -> None:
        self.name = f"local/{Path(model).name}"
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model, revision=revision)
            network = AutoModelForCausalLM.from_pretrained(model, revision=revision, dtype=dtype)
        except (OSError, ValueError, ImportError) as error:
            raise ConfigurationError(f"{model} cannot be loaded as a causal language model: {error}") from error
        self._network = network.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
        self._context = getattr(network.config.get_text_config(), "max_position_embeddings", None)
        end_tokens = _end_tokens(network.generation_config, self._tokenizer)
        self._rules = TokenRules(
            self._tokenizer,
            vocabulary=max(network.get_input_embeddings().num_embeddings, len(self._tokenizer)),
            end_tokens=end_tokens,
        )
        # Greedy, and nothing else of what the checkpoint suggests: a penalty for repetition forbids JSON's own tokens.
        self._special = _special_tokens(self._tokenizer)
        self._generation = GenerationConfig(do_sample=False, eos_token_id=end_tokens, pad_token_id=end_tokens[0])
        self._longest_string = longest_string
        self._thread = ModelThread("local")
        self.identity: Mapping[str, Any] = {
            "weights": _fingerprint(Path(model), network.config),
            "longest_string": longest_string,
            "dtype": str(network.dtype),
        }

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`. An answer that outgrows its budget is valid too: see `JsonWriting`."""
        return await self._thread.run(lambda cancelled: self._answer(request, cancelled))

    def _answer(self, request: ChatRequest, cancelled: threading.Event) -> Reply:
        schema = bounded_schema(request.strict_schema, self._longest_string)
        try:
            prompt = self._encode(with_schema(request.messages, request.response_model))
            budget = self._budget(request, prompt.shape[1], closing_tokens(schema))
            writing = JsonWriting(self._rules, schema, budget=budget, cancelled=cancelled)
            self._generate(prompt, writing, longest=budget + closing_tokens(schema))
        except (ValueError, RuntimeError, TemplateError) as error:  # out of memory is a RuntimeError of torch's
            raise CallError(FailureKind.REQUEST, f"{self.name}: {error}") from error
        usage = Usage(input_tokens=prompt.shape[1], output_tokens=writing.tokens, cost_usd=0.0, calls=1)
        return Reply(text=writing.text, cut_off=writing.hurried, usage=usage)

    def _budget(self, request: ChatRequest, prompt_tokens: int, closing: int) -> int:
        """Tokens for the answer. Raises ValueError where the prompt leaves no room for one."""
        budget = request.max_output_tokens or LONGEST_ANSWER
        if self._context is None:
            return budget
        room: int = self._context - prompt_tokens - closing
        if room < 1:
            raise ValueError(f"a prompt of {prompt_tokens} tokens leaves no room in its context of {self._context}")
        return min(budget, room)

    def _generate(self, prompt: torch.Tensor, writing: JsonWriting, *, longest: int) -> None:
        with torch.inference_mode():
            self._network.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                generation_config=self._generation,
                max_new_tokens=longest,
                logits_processor=[writing.allow],
                stopping_criteria=[writing.stop],
            )

    def _encode(self, messages: Sequence[Message]) -> torch.Tensor:
        """The conversation as one row of token ids, in the model's own chat format where it has one."""
        if self._tokenizer.chat_template is None:
            turns = [f"{_ROLE_NAMES[message.role]}: {self._neutral(message.content)}" for message in messages]
            ids = self._tokenizer("\n\n".join([*turns, "Answer: "]))["input_ids"]
        else:
            text = self._render(messages)
            ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]  # the template names them itself
        return torch.tensor([ids], device=self._network.device)

    def _render(self, messages: Sequence[Message]) -> str:
        turns = [{"role": message.role, "content": self._neutral(message.content)} for message in messages]
        try:
            return self._apply_template(turns)
        except TemplateError:  # some models know no system turn
            first, second, *rest = turns
            return self._apply_template([{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest])

    def _neutral(self, content: str) -> str:
        """Without this tokenizer's own special tokens: in a retrieved page they would begin a turn."""
        if self._special is None:
            return content
        return self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", content)

    def _apply_template(self, turns: Sequence[Mapping[str, str]]) -> str:
        """`enable_thinking` is a variable of templates that have one: the answer is JSON from its first token on, so
        thoughts that a template opens all the same are closed at once."""
        text: str = self._tokenizer.apply_chat_template(
            list(turns), tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        opened = _OPENED_THOUGHTS.search(text)
        return text if opened is None else f"{text.rstrip()}\n</{opened[1]}>\n\n"


def _special_tokens(tokenizer: Any) -> re.Pattern[str] | None:
    """What the tokenizer makes one token of wherever it stands; None where there is nothing of the kind."""
    added = {str(token) for token in tokenizer.all_special_tokens} | set(tokenizer.get_added_vocab())
    names = sorted((name for name in added if len(name) > 1 and name.strip()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, names))) if names else None


def _end_tokens(generation_config: Any, tokenizer: Any) -> list[int]:
    """Ids of every token that ends an answer. Raises ConfigurationError where there is none."""
    known = getattr(generation_config, "eos_token_id", None)
    ends = [tokenizer.eos_token_id, *(known if isinstance(known, list) else [known])]
    ids = list(dict.fromkeys(token for token in ends if token is not None))
    if not ids:
        raise ConfigurationError("this model has no token that ends an answer")
    return ids


def _fingerprint(model: Path, config: Any) -> str:
    """What tells these weights from others without reading gigabytes: the hub's commit, or sizes and times of files."""
    commit = getattr(config, "_commit_hash", None)
    if not model.is_dir():
        return str(commit)
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(model.iterdir())]
    return hashlib.sha256(repr(files).encode()).hexdigest()[:16]
