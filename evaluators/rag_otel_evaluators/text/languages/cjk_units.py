"""Units in Chinese, by the characters after the number."""

from __future__ import annotations

from typing import Final

CJK_UNITS: Final = {
    word: unit
    for unit, words in {
        "yuan": "元",
        "year": "年",
        "month": "月",
        "day": "天 日",
        "hour": "小",
        "minute": "分",
        "second": "秒",
        "metre": "米",
        "kilo": "公",
        "person": "人",
        "age": "岁",
        "week": "周",
        "volume": "册",
        "tonne": "吨",
        "degree": "度 ℃",
        "percent": "％",
        "time": "次",
        "piece": "个",
        "line": "路",
        "number": "号",
        "oclock": "点",
    }.items()
    for word in words.split()
}
CJK_PAIRS: Final = {
    word: unit
    for unit, words in {
        "hour": "小时 钟头",
        "minute": "分钟",
        "kilometre": "公里 千米",
        "centimetre": "厘米",
        "millimetre": "毫米",
        "kilogram": "公斤 千克",
        "millilitre": "毫升",
        "mile": "英里",
        "foot": "英尺",
        "inch": "英寸",
        "week": "星期",
        "month": "个月",
        "dollar": "美元",
        "euro": "欧元",
        "kilowatt": "千瓦",
        "hectare": "公顷",
        "square metre": "平米 平方米",
        "square kilometre": "平方公里 平方千米",
        "cubic metre": "立方米",
        "pound": "英镑",
        "yen": "日元",
        "celsius": "摄氏 ℃",
        "kilowatthour": "千瓦时",
        "milligram": "毫克",
        "gram": "克",
        "litre": "升",
        "percent": "百分点",
        "decibel": "分贝",
        "degree": "度",
        "time": "次 回",
    }.items()
    for word in words.split()
}
"""Longer ones first: "千瓦时" before "千瓦"."""
