"""Lists of words as a person writes them: a slot, then its words between bars; a bar at a line's end goes on."""

import re


def parsed(text):
    """The words by slot."""
    slots = {}
    for row in re.sub(r"\|\s+", "|", text).strip().splitlines():
        slot, words = row.strip().split(" ", 1)
        slots[slot] = words.split("|")
    return slots
