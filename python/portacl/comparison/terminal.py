"""Texts of a recording on a terminal.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations


def printable(text: str) -> str:
    """Returns the text in one line, with an escape for every character that would control a terminal or that cannot be encoded."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode("ascii") for one in text)
