"""Aligns the calls of two runs, in which some were inserted, removed or renamed.

The shortest edit script (Myers, 1986) over tokens. If the runs differ so much that it would take too long, unique sequences of
three tokens are matched first, and the parts between them separately.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import bisect
from collections.abc import Hashable, Sequence

_MOST_EDITS = 1500  # the limit for the shortest script, whose time and memory grow quadratically


def align(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[tuple[int | None, int | None]]:
    """Returns pairs of positions in order, with None for tokens that only one of the two has."""
    numbers: dict[Hashable, int] = {}
    one = [numbers.setdefault(token, len(numbers)) for token in first]
    other = [numbers.setdefault(token, len(numbers)) for token in second]
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    middle = _matches(one[start : len(one) - end], other[start : len(other) - end])
    matched = [(k, k) for k in range(start)]
    matched += [(i + start, j + start) for i, j in middle]
    matched += [(len(one) - k, len(other) - k) for k in range(end, 0, -1)]
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    for at, beside in [*matched, (len(one), len(other))]:
        pairs += [(k, None) for k in range(i, at)]
        pairs += [(None, k) for k in range(j, beside)]
        if at < len(one):
            pairs.append((at, beside))
        i, j = at + 1, beside + 1
    return pairs


def _matches(one: list[int], other: list[int]) -> list[tuple[int, int]]:
    if not one or not other:
        return []
    found = _shortest(one, other)
    return _by_anchors(one, other) if found is None else found


def _by_anchors(one: list[int], other: list[int]) -> list[tuple[int, int]]:
    places, places_of_other = (_places_of_unique(tokens) for tokens in (one, other))
    anchors = _increasing(sorted((i, places_of_other[row]) for row, i in places.items() if row in places_of_other))
    if not anchors:
        return _by_occurrence(one, other)
    found: list[tuple[int, int]] = []
    i = j = 0
    for at, beside in [*anchors, (len(one), len(other))]:
        found += [(i + x, j + y) for x, y in _matches(one[i:at], other[j:beside])]
        if at < len(one):
            found.append((at, beside))
        i, j = at + 1, beside + 1
    return found


def _places_of_unique(tokens: list[int]) -> dict[tuple[int, ...], int]:
    """Returns the position of each sequence of three tokens that occurs once."""
    places: dict[tuple[int, ...], list[int]] = {}
    for k in range(len(tokens) - 2):
        places.setdefault(tuple(tokens[k : k + 3]), []).append(k)
    return {row: found[0] for row, found in places.items() if len(found) == 1}


def _shortest(one: list[int], other: list[int]) -> list[tuple[int, int]] | None:
    n, m = len(one), len(other)
    furthest = {1: 0}  # by diagonal
    trail: list[dict[int, int]] = []
    for edits in range(min(n + m, _MOST_EDITS) + 1):
        trail.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < n and y < m and one[x] == other[y]:
                x += 1
                y += 1
            furthest[diagonal] = x
            if x >= n and y >= m:
                return _back(trail, n, m)
    return None


def _back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    found = []
    for edits in range(len(trail) - 1, -1, -1):
        furthest = trail[edits]
        diagonal = x - y
        down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        at = furthest[before]
        while x > at and y > at - before and x > 0 and y > 0:
            if edits and (x, y) == ((at, at - before + 1) if down else (at + 1, at - before)):
                break
            x -= 1
            y -= 1
            found.append((x, y))
        x, y = at, at - before
    found.reverse()
    return found


def _by_occurrence(one: list[int], other: list[int]) -> list[tuple[int, int]]:
    """Matches the k-th occurrence of a token with the k-th of the other run, as far as that preserves the order."""
    places: dict[tuple[int, int], int] = {}
    counts: dict[int, int] = {}
    for j, token in enumerate(other):
        counts[token] = counts.get(token, 0) + 1
        places[token, counts[token]] = j
    counts.clear()
    candidates = []
    for i, token in enumerate(one):
        counts[token] = counts.get(token, 0) + 1
        if (token, counts[token]) in places:
            candidates.append((i, places[token, counts[token]]))
    return _increasing(candidates)


def _increasing(candidates: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the longest ordered selection: the first positions ascend, and the second ones must, too."""
    tails: list[int] = []  # the smallest position that ends a run of each length
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(candidates):
        at = bisect.bisect_left(tails, j)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [j]
        ends[at : at + 1] = [number]
    found = []
    number = ends[-1] if ends else -1
    while number >= 0:
        found.append(candidates[number])
        number = before[number]
    return found[::-1]
