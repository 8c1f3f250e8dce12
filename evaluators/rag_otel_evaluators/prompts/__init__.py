"""Prompts as versioned files beside the code, one folder a language: read them, replace them, adapt them.

load_prompt("context_precision", "es")            a built-in prompt
load_prompt("context_precision", folder="mine")   one's own where there is one, else the built-in
metric = ContextPrecision(model=model, prompt=prompt)
"""

from rag_otel_evaluators.prompts.library import list_prompts, load_prompt, save_prompt
from rag_otel_evaluators.prompts.prompt import Example, Prompt

__all__ = ["Example", "Prompt", "list_prompts", "load_prompt", "save_prompt"]
