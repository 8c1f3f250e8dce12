"""Words that deny, and words that say the opposite of each other."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

NEGATIONS: Final = words(
    "not no never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't "
    "weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't nunca ningún ninguna ninguno nada tampoco nicht "
    "kein keine keinen keiner keinem nie niemals ohne pas jamais aucun aucune rien sans "
    "لا ليس ليست لم لن नहीं 不是 不能 不会 不會 不在 不可 没有 沒有 并非 並非 从未 從未 未能 ない せん"
)

LIMITING_WORDS: Final = words(
    # After a negation they limit or stress what is said and do not deny it: "no more than 20", "not only".
    "more less fewer later earlier longer only just necessarily least sólo solo más mas menos mehr weniger nur "
    "plus moins seulement"
)

NEGATING_WORDS: Final = words(
    # Words that negate without a negation: a paraphrase may use one for the other.
    "unable avoid avoids avoiding prevent prevents preventing fail fails failed failing lack lacks lacking refuse "
    "refuses refused stop stops impossible unlikely unlike instead except rather hardly rarely seldom barely "
    "few little keep evitar evita impedir falta imposible vermeiden verhindern fehlt unmöglich "
    "éviter empêcher manque"
)
"""Beside `NEGATIONS`."""


def _opposites(listed: str) -> dict[str, frozenset[str]]:
    """ "a/b c/d,e" -> each word with those on the other side of its stroke."""
    found: dict[str, frozenset[str]] = {}
    for pair in listed.split():
        left, right = (frozenset(side.split(",")) for side in pair.split("/"))
        for side, other in ((left, right), (right, left)):
            for word in side:
                found[word] = found.get(word, frozenset()) | other
    return found


ANTONYMS: Final = _opposites(
    "high/low higher/lower highest/lowest large,big/small larger,bigger/smaller largest,biggest/smallest "
    "hot/cold hotter,warmer/colder,cooler increase,raise/decrease,reduce,lower "
    "increases,raises/decreases,reduces,lowers "
    "increased,raised/decreased,reduced increasing/decreasing,reducing "
    "before/after above/below more/less,fewer maximum/minimum longer/shorter "
    "long/short fast,quick/slow faster/slower early/late earlier/later  "
    "always/never open/closed true/false legal/illegal safe/unsafe,dangerous "
    "allowed,permitted/forbidden,prohibited accept/reject accepts/rejects accepted/rejected approved/rejected "
    "included/excluded includes/excludes north/south northern/southern east/west eastern/western "
    "inside/outside indoors/outdoors public/private "
    "old/young,new older/younger,newer oldest/youngest,newest rich/poor strong/weak stronger/weaker hard/soft "
    "easy/difficult cheap/expensive cheaper/costlier light/dark wet/dry "
    "male/female men/women man/woman husband/wife son/daughter father/mother brother/sister king/queen "
    "won/lost win/lose wins/loses buy/sell bought/sold born/died alive/dead success/failure succeeded/failed "
    "rise,grow/fall,shrink rises,grows/falls,shrinks rose,grew/fell,shrank growth/decline grown/fallen "
    "add/remove adds/removes added/removed gain/loss profit/loss acid/alkaline positive/negative healthy/unhealthy "
    "possible/impossible common/rare internal/external domestic/foreign summer/winter morning/evening "
    "employer/employee buyer/seller import/export "
    "alto/bajo grande/pequeño antes/después siempre/nunca abierto/cerrado "
    "hoch/niedrig groß/klein immer/nie offen,geöffnet/geschlossen größer/kleiner "
    "haut/bas grand/petit avant/après toujours/jamais ouvert/fermé"
)
"""word -> words that say the opposite: a claim with one where its evidence has the other says otherwise."""
