"""Tiny models with random weights, in exactly the layout of the published ones, built here and never downloaded.

Torch and transformers are imported by the fixtures that need them: most judges are tested without.
"""

from __future__ import annotations

import json
import math
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast, T5ForTokenClassification

DATA = Path(__file__).parents[3] / "examples/data/ragtruth_qa_dev.jsonl"
HHEM_CONFIG = {
    "architectures": ["HHEMv2ForSequenceClassification"],
    "auto_map": {
        "AutoConfig": "configuration_hhem_v2.HHEMv2Config",
        "AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2ForSequenceClassification",
    },
    "foundation": "google/flan-t5-base",
    "id2label": {"0": "hallucinated", "1": "consistent"},
    "label2id": {"consistent": 1, "hallucinated": 0},
    "model_type": "HHEMv2",
    "prompt": "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}",
    "torch_dtype": "float32",
}


@pytest.fixture(autouse=True)
def _nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches for the hub fails at once."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    """English text to make tokenizers of."""
    with DATA.open(encoding="utf-8") as lines:
        return [json.loads(line)["response"] for _, line in zip(range(80), lines, strict=False)]


@pytest.fixture(scope="session")
def t5_tokenizer(corpus: list[str]) -> Tokenizer:
    """A tokenizer of T5's kind: Unigram over ▁words, <pad> 0, </s> 1 at the end of every text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    words = Counter(word for text in corpus for word in text.split())
    pieces = sorted({*"".join(corpus), *string.printable, "▁"})
    scores = {f"▁{word}": math.log(count / words.total()) for word, count in words.most_common(500)}
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *scores.items(), *((piece, -12.0) for piece in pieces)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


@pytest.fixture(scope="session")
def one_torch_thread() -> Iterator[None]:
    """Tiny models are slower on many threads than on one."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def t5_network(t5_tokenizer: Tokenizer, corpus: list[str], one_torch_thread: None) -> T5ForTokenClassification:
    """The network as transformers builds it, with scores that differ from text to text."""
    import torch
    from transformers import T5Config, T5ForTokenClassification

    torch.manual_seed(7)
    config = T5Config(
        vocab_size=t5_tokenizer.get_vocab_size(),
        d_model=24,
        d_kv=6,
        d_ff=48,
        num_layers=2,
        num_heads=3,  # times d_kv is not d_model: each must be read off its own tensor
        feed_forward_proj="gated-gelu",
        num_labels=2,
    )
    network = T5ForTokenClassification(config).eval()
    # As it comes from the generator, the first token's class is nearly the same for every text: spread the scores.
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.6)
        rows = [t5_tokenizer.encode(f"<pad> {text[:400]}").ids for text in corpus]
        logits = torch.stack([network(input_ids=torch.tensor([row])).logits[0, 0] for row in rows])
        margins = logits[:, 1] - logits[:, 0]
        network.classifier.weight *= 1.5 / margins.std()
        network.classifier.bias.copy_(torch.tensor([0.0, -1.5 * float(margins.mean() / margins.std())]))
    return network


@pytest.fixture
def hhem_folder(tmp_path: Path, t5_network: T5ForTokenClassification, t5_tokenizer: Tokenizer) -> Path:
    """config.json, model.safetensors and tokenizer.json as published: `t5.` before each name, the embedding once."""
    from safetensors.torch import save_file

    folder = tmp_path / "tiny-hhem"
    folder.mkdir()
    weights = {f"t5.{name}": tensor.clone() for name, tensor in t5_network.state_dict().items()}
    del weights["t5.transformer.encoder.embed_tokens.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(HHEM_CONFIG))
    t5_tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session")
def byte_tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, and an end: a tokenizer of GPT-2's kind before it has learned anything."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>")


@pytest.fixture(scope="session")
def causal_folder(
    tmp_path_factory: pytest.TempPathFactory, byte_tokenizer: PreTrainedTokenizerFast, one_torch_thread: None
) -> Path:
    """A Llama of two layers that knows nothing: what it says is noise, within what it may say."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=264,  # wider than the tokenizer, as those of real checkpoints are
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=6000,
        bos_token_id=None,
        eos_token_id=256,
    )
    network = LlamaForCausalLM(config)
    with torch.no_grad():
        network.lm_head.weight.normal_(std=2.0)
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    network.save_pretrained(folder)
    byte_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def embedding_folder(tmp_path_factory: pytest.TempPathFactory, corpus: list[str], one_torch_thread: None) -> Path:
    """A BERT of one layer with random weights, as a plain Hugging Face checkpoint."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(5)
    words = sorted({word for text in corpus for word in text.lower().split()})
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
