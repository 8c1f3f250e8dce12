"""Words that say which of several is more: "cheapest", "le plus élevé", "am leichtesten", "最便宜"."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

MORE_OF: Final = words("most more más plus mehr meisten meiste 最 更")
"""Before an adjective they keep its direction; before a noun they say that there is more of it."""
LESS_OF: Final = words("least less fewest fewer menos moins weniger wenigsten wenigste moindre moindres")
"""The same the other way round."""

_ADJECTIVES: Final[dict[tuple[int, str], str]] = {
    (1, "money"): "expensive costly pricey dear caro cara caros caras costoso costosa cher chère chers chères "
    "coûteux "
    "coûteuse onéreux onéreuse 贵 昂贵 cuesta cuestan coûte coûtent",
    (-1, "money"): "affordable economical barato barata baratos baratas económico económica asequible abordable "
    "économique avantageux avantageuse 便宜 实惠 划算",
    (1, "mass"): "heavy pesado pesada pesados pesadas lourd lourde lourds lourdes 重",
    (-1, "mass"): "light lightweight ligero ligera ligeros ligeras liviano liviana léger légère légers légères 轻",
    (1, "pace"): "rapid rápido rápida rápidos rápidas veloz rapide rapides vite 快",
    (-1, "pace"): "slow lento lenta lentos lentas lent lente lents lentes 慢",
    (1, "age"): "antiguo antigua antiguos antiguas viejo vieja ancien ancienne vieux vieille âgé âgée 老 旧 年长",
    (-1, "age"): "recent reciente nuevo nueva joven jóvenes récent récente nouveau nouvelle jeune jeunes 新 年轻",
    (1, "span"): "largo larga largos largas long longue longs longues longtemps 长 久",
    (-1, "span"): "corto corta cortos cortas breve breves court courte courts courtes bref brève 短",
    (1, ""): "large numerous common frequent grande grandes alto alta altos altas elevado "
    "elevada numeroso numerosa amplio amplia ancho ancha profundo tarde caliente cálido abundante frecuente "
    "grand grands élevé élevée élevés élevées haut haute hauts hautes large nombreux "
    "nombreuse tard tardif chaud chaude étendu étendue spacieux profond 多 高 大 晚 热 远 宽 深",
    (-1, ""): "small few pequeño pequeña pequeños pequeñas bajo baja bajos bajas escaso "
    "reducido reducida estrecho temprano pronto frío fría cercano "
    "petit petite petits petites bas basse basses faible faibles tôt froid froide "
    "étroit étroite réduit réduite 少 低 小 早 冷 近 窄 浅",
}
_FORMS: Final[dict[tuple[int, str], str]] = {
    (
        1,
        "money",
    ): "dearest costliest priciest steepest dearer costlier pricier teuerste teuersten teuerster teuerstes teurer "
    "kostspieligste",
    (-1, "money"): "cheapest cheaper billigste billigsten billigster billigstes billiger günstigste günstigsten "
    "günstigster günstigstes günstiger preiswerteste preiswertesten preiswerter preisgünstigste",
    (1, "mass"): "heaviest heavier schwerste schwersten schwerster schwerstes schwerer",
    (-1, "mass"): "lightest lighter leichteste leichtesten leichtester leichtestes leichter",
    (1, "pace"): "fastest quickest speediest faster quicker schnellste schnellsten schnellster schnellstes schneller",
    (-1, "pace"): "slowest slower langsamste langsamsten langsamster langsamstes langsamer",
    (1, "age"): "oldest older älteste ältesten ältester ältestes älter",
    (-1, "age"): "newest youngest newer younger jüngste jüngsten jüngster jüngstes neueste neuesten neuester neuer",
    (1, "span"): "longest longer längste längsten längster längstes länger 最长 最久",
    (-1, "span"): "shortest shorter briefest kürzeste kürzesten kürzester kürzestes kürzer 最短",
    (1, ""): "highest largest biggest tallest greatest widest deepest latest hottest warmest furthest farthest "
    "maximum higher larger bigger taller greater wider deeper later hotter warmer further farther roomiest "
    "mayor mayores máximo máxima "
    "höchste höchsten höchster höchstes höher größte größten größter größtes größer "
    "breiteste breitesten tiefste tiefsten späteste spätesten später wärmste wärmsten heißeste "
    "weiteste weitesten häufigste häufigsten maximale 最高 最大 最多 最晚 榜首 居首 冠军 第一",
    (-1, ""): "lowest smallest fewest narrowest earliest coldest coolest nearest closest minimum lower smaller "
    "narrower earlier sooner soonest colder nearer closer "
    "menor menores mínimo mínima "
    "niedrigste niedrigsten niedrigster niedrigstes niedriger kleinste kleinsten kleinster kleinstes kleiner "
    "schmalste schmalsten früheste frühesten früher kälteste "
    "kältesten nächste nächsten seltenste seltensten geringste geringsten geringster geringer tiefster "
    "最低 最小 最少 最早 垫底 末位 最后",
}


def _listed(table: dict[tuple[int, str], str]) -> dict[str, tuple[int, str]]:
    return {word: key for key, listed in table.items() for word in words(listed)}


ADJECTIVES: Final = _listed(_ADJECTIVES)
"""Plain form -> (1 for much and -1 for little, what it measures); read after a word of `MORE_OF` or `LESS_OF`."""
FORMS: Final = _listed(_FORMS)
"""Comparative or superlative -> the same."""
NOBODY: Final = words(
    "nothing none nobody ninguno ninguna ningún nadie nada keine keiner keines nichts niemand aucun aucune rien "
    "personne "
    "nul nulle"
)
"""Before a comparative they say that what is compared is the extreme: "nothing is cheaper than Duo"."""
EQUALS: Final = words("tan tanto so as aussi autant si")
"""The same before a plain adjective: "ninguna es tan barata como Mini"."""
