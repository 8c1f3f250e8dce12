"""How alike two texts are, by the number of characters that must be changed to turn one into the other."""

from __future__ import annotations


def edit_similarity(first: str, second: str) -> float:
    """Returns 1 - Levenshtein distance / length of the longer text, in 0..1. Two empty texts are equal.

    >>> edit_similarity("kitten", "sitting")  # 3 changes, 7 characters
    0.5714285714285714
    """
    longest = max(len(first), len(second))
    return 1.0 - edit_distance(first, second) / longest if longest else 1.0


def edit_distance(first: str, second: str) -> int:
    """Returns the Levenshtein distance: the least number of insertions, deletions and substitutions of characters.

    A column of the table of distances is one integer, whose bits are the differences between its cells. So a text of
    1,000 characters costs 1,000 operations on integers. Source: Myers, "A fast bit-vector algorithm for approximate
    string matching", 1999, in the form of Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit
    distances", 2003.
    """
    if first == second:
        return 0
    if not first or not second:
        return len(first) or len(second)
    places: dict[str, int] = {}
    for position, character in enumerate(first):
        places[character] = places.get(character, 0) | (1 << position)
    every, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    increases, decreases, distance = every, 0, len(first)
    for character in second:
        equal = places.get(character, 0)
        vertical = equal | decreases
        horizontal = (((equal & increases) + increases) ^ increases) | equal
        up = decreases | (every & ~(horizontal | increases))
        down = increases & horizontal
        distance += bool(up & last) - bool(down & last)
        up = ((up << 1) | 1) & every
        down = (down << 1) & every
        increases = down | (every & ~(vertical | up))
        decreases = up & vertical
    return distance
