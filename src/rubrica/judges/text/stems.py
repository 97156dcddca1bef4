"""Light stemming of English words: endings off, so that forms of one word meet.

What it gives need not be a word, only the same for `increase`, `increased` and `increasing`. It is
kept light on purpose: a stemmer that cuts more makes `universe` and `university` one word.
"""

from functools import lru_cache

from rubrica.judges.text.lists import words_of

#: Forms that no ending explains.
_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "is are was were been being am",
        "begin": "began begun",
        "bleed": "bled",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "cut": "cutting",
        "die": "died dying dies",
        "draw": "drew drawn",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feel": "felt",
        "fight": "fought",
        "find": "finds finding",
        "fly": "flew flown flight flies",
        "forbid": "forbade forbidden",
        "freeze": "froze frozen",
        "get": "got gotten getting",
        "give": "gave given giving",
        "go": "went gone goes",
        "grow": "grew grown growth",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left leaving",
        "lie": "lay lain lying lies",
        "lose": "lost losing loss losses",
        "make": "made making",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "pay": "paid",
        "person": "people persons",
        "rise": "rose risen rising",
        "run": "ran running",
        "say": "said says",
        "see": "saw seen",
        "sell": "sold sale sales",
        "send": "sent",
        "set": "setting",
        "shoot": "shot",
        "show": "shown",
        "shrink": "shrank shrunk",
        "sing": "sang sung",
        "sink": "sank sunk",
        "sit": "sat sitting",
        "speak": "spoke spoken",
        "spend": "spent",
        "stand": "stood",
        "steal": "stole stolen",
        "sweep": "swept",
        "swim": "swam swum",
        "take": "took taken taking",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "understand": "understood",
        "wear": "wore worn",
        "win": "won winning",
        "withdraw": "withdrew withdrawn withdrawal",
        "woman": "women",
        "write": "wrote written writing writes",
        "analysis": "analyses",
        "foot": "feet",
        "tooth": "teeth",
        "mouse": "mice",
        "life": "lives",
        "half": "halves",
        "long": "length",
        "high": "height",
        "wide": "width",
        "deep": "depth",
        "strong": "strength",
        "weigh": "weight",
    }.items()
    for form in forms.split()
}
_VOWELS = frozenset("aeiouy")
#: Endings, longest first, with what takes their place.
_ENDINGS = (
    ("isations", "ise"),
    ("izations", "ise"),
    ("isation", "ise"),
    ("ization", "ise"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("ators", ""),
    ("ator", ""),
    ("ating", ""),
    ("ated", ""),
    ("ates", ""),
    ("ate", ""),
    ("ements", ""),
    ("ement", ""),
    ("ations", ""),
    ("ation", ""),
    ("ically", "ic"),
    ("izing", "ise"),
    ("ising", "ise"),
    ("ized", "ise"),
    ("ised", "ise"),
    ("izes", "ise"),
    ("izers", "ise"),
    ("isers", "ise"),
    ("izer", "ise"),
    ("iser", "ise"),
    ("ize", "ise"),
    ("ments", ""),
    ("ment", ""),
    ("nesses", ""),
    ("ness", ""),
    ("ings", ""),
    ("ing", ""),
    ("ions", ""),
    ("ion", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ily", "y"),
    ("ers", ""),
    ("ors", ""),
    ("ives", ""),
    ("ive", ""),
    ("ed", ""),
    ("er", ""),
    ("or", ""),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
)
#: The same by their last two letters: most words and all numbers have none of them.
_BY_END = {
    end: tuple(pair for pair in _ENDINGS if end.endswith(pair[0][-2:]))
    for end in {ending[-2:] for ending, _ in _ENDINGS}
}
_PLURAL = _BY_END["s"]
_PREFIXES = ("re", "over", "under", "out", "mis")
#: Endings that may stand behind another.
_AGAIN = frozenset(("ed", "ing", "s", "ings"))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    word = _IRREGULAR.get(word, word)
    if word.startswith(_PREFIXES):
        word = _regular(word)
    if "-" in word:
        return "-".join(map(stem, word.split("-")))
    if (
        len(word) <= 3
        or word in words_of("unstemmed.txt")
        or not word.isascii()
        or word.endswith("eed")
    ):
        return word
    for ending, instead in _BY_END.get(word[-2:], _PLURAL):
        if word.endswith(ending):
            base = word[: -len(ending)]
            if ending.startswith("at") and (len(base) < 4 or base[-1] in "eo"):
                base += "at"  # creat, not cre; defeat, not def
            if ending == "s" and base[-1:] in "su":
                break
            if len(base) + len(instead) >= 3 and not _VOWELS.isdisjoint(base):
                if ending in _AGAIN and base.endswith(("er", "or")) and len(base) >= 5:
                    base = base[:-2]  # discovered as discover
                return _tidy(base + instead)
    return _tidy(word)


def _regular(word: str) -> str:
    """A form behind a prefix: `undertook` as `undertake`."""
    for prefix in _PREFIXES:
        if word.startswith(prefix) and word[len(prefix) :] in _IRREGULAR:
            word = prefix + _IRREGULAR[word[len(prefix) :]]
    return word


def _tidy(base: str) -> str:
    """What is left without a silent e, a doubled letter or a final y."""
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        base = base[:-1]
    if len(base) > 3 and base.endswith("e"):
        base = base[:-1]
    if len(base) > 2 and base.endswith("y") and base[-2] not in _VOWELS:
        base = base[:-1] + "i"
    return base
