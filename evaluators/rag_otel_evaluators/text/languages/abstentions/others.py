"""Abstentions in further languages: the commonest wordings only. Not measured."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages import any_of

_OTHERS: Final = (  # Italian, Portuguese, traditional Chinese, Arabic, Hindi, Japanese
    r"\bnon (?:lo so|ci sono informazioni|è possibile (?:rispondere|determinare))",
    r"\bnão (?:sei|há informaç|é possível (?:responder|determinar))",
    r"無法(?:回答|確定)|沒有(?:提到|提及|相關資訊)",
    r"لا (?:أعرف|اعرف|أعلم|أدري|يذكر|يمكن(?:ني)? (?:الإجابة|تحديد))|غير مذكور",
    r"(?:मुझे|हमें) (?:यह )?(?:नहीं (?:पता|मालूम)|पता नहीं|मालूम नहीं)|(?:उल्लेख|जानकारी) (?:\S{1,30} ){0,2}?नहीं",
    r"わかりません|分かりません|答えられません|記載(?:されて|が)(?:い)?(?:ません|ない)",
)


@cache
def others() -> re.Pattern[str]:
    """Italian, Portuguese, traditional Chinese, Arabic, Hindi, Japanese."""
    return any_of(*_OTHERS)
