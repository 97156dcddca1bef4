"""The check `choice`: which of the letters A, B, C, D … does the answer choose?"""

import re
from typing import ClassVar

from fourscore.core import Case, CaseError, ConfigError, Signal, Trace
from fourscore.judges.answer_extraction import find_boxed, find_tagged, remove_thinking
from fourscore.judges.checks.check import Check, Texts, list_texts, read_texts, shorten
from fourscore.judges.checks.plain_numbers import LATIN

#: Most characters of an answer that are read, from its end.
_MAX_READ = 20_000
_WIDE = str.maketrans("ＡＢＣＤＥＦＧＨＩＪ（）：．", "ABCDEFGHIJ():.")
#: A letter stands alone where no word begins before it or goes on after it; `'B'` does.
_ALONE_BEFORE = rf"(?<!{LATIN})(?<!{LATIN}['’])"
_ALONE_AFTER = rf"(?!{LATIN}|['’]{LATIN})"
#: Words before a chosen letter, in English and Chinese. The letter follows within a few signs.
_STATED = (
    r"(?:(?i:(?:final |correct |right |best )?(?:answer|choice|option|pick)s?"
    r"(?: is| would be| are|:| =)|final:|i (?:choose|pick|select|go with))"
    r"|答案(?:是|为|：|:)|正确的?(?:选项|答案)?(?:是|为|：|:)|故?选择?(?:选项)?)"
)
#: Words after which only a capital letter is a choice.
_ANSWER_IS = (
    r"(?:(?i:\bi(?:['’]d| would|['’]ll| will) (?:choose|pick|select|go with|say|answer)"
    r"|\bleav(?:es|ing)(?: only)?)|(?:认为|觉得|应该?|就|而)是)"
)
_IT_IS = r"(?i:\bit(?:['’]s| is| must be| has to be))"
_AFFIRMED = (
    r"[)\]*_`'\"”’]{0,4}(?:\s(?i:is|must be|would be) (?i:the )?(?i:correct|right|best|answer)\b"
    r"|\s?(?:选项|项)?(?:是|为)?(?:正确|对的))"
)
#: After `A` as an article: another word, but not one that makes `A` a choice.
_ARTICLE = re.compile(r"\s+(?!or\b|and\b|is\b|was\b)[a-z]{2}")
_GAP = r"[\s:：=*_`\"'“”「（(\[{]{0,8}(?:(?i:option|choice|letter) |选项)?[*_`\"'“”(（\[]{0,4}"
#: What joins two letters: `A or B`, `A and C`, `A/B`, `A、B`.
_JOINED = re.compile(
    r"[\s)*_`.）]{0,4}(?:,|/|&|、|或|和|(?i:or|and|及)\b)[\s(*_`（]{0,4}"
    r"(?:(?i:option|choice) )?[(]?([A-Z])(?![A-Za-z'’])"
)
_MENTIONED = re.compile(rf"{_ALONE_BEFORE}([A-Z]){_ALONE_AFTER}")
_STATEMENT = re.compile(
    rf"{_STATED}{_GAP}(?P<letter>[A-Za-z]){_ALONE_AFTER}"
    rf"|{_ANSWER_IS}{_GAP}(?P<said>[A-Z]){_ALONE_AFTER}"
    rf"|{_IT_IS}{_GAP}(?P<it>[A-Z])(?=[)\]*_`'\"”’]{{0,4}}(?:[.!。\n]|$))"
    rf"|{_ALONE_BEFORE}(?<![Ii]f )(?<!whether )(?P<affirmed>[A-Z])(?={_AFFIRMED})"
)
#: Where a negation before a letter ends. `not A, B or C` negates three letters.
_CLAUSE = re.compile(
    r"[.;:!?\n。；：！？]|(?<![A-Z])[,，]|[,，](?!\s?(?:(?:and|or|nor) )?[A-Z]\b)"
    r"|(?i:\b(?:but|so|therefore|thus|hence|because|since|then|leaves|leaving)\b)|而是"
)
_NEGATION = re.compile(
    r"(?i:\b(?:not|never|cannot|neither|nor|except|unlike|no(?! doubt| question)|(?<!no )doubt"
    r"|rather than|instead of|rul(?:e|ed|es|ing) out|(?:eliminat|exclud|reject|discard)\w{1,4})\b"
    r"|n['’]t\b|\b(?:wrong|incorrect|worst|false) (?:answer|choice|option|pick|one)s?\b)"
    r"|(?:不(?!难|过|妨|犹豫)|别|没|勿|非|排除|除了?)[^A-Z]{0,8}(?:[A-Z][、,和或与及 ]{1,3})*$"
)
#: What stands after a letter that is refused: `B is wrong`, `B isn't`, `B cannot be`, `B不对`.
_REFUSED = re.compile(
    r"[)\]*_`'\"”’]{0,4}(?:(?:,[^,.;!?\n]{1,40},)?\s{1,2}(?i:(?:is|was|are|were|seems|looks"
    r"|appears|has been|does|did|has|can|ca(?=n['’]t)|(?:would|must|should|could|may|might|will|wo)"
    r"(?: be)?)"
    r"(?:n['’]t\b|not\b|\s(?:\w{2,12}ly |also |just )?(?:not|never|out|ruled)\b"
    r"|\s(?-i:(?!right|correct|best|because)[a-z,'’]{1,15} ){0,3}"
    r"(?:wrong|incorrect|false|invalid|eliminated|excluded|rejected)\b))"
    r"|\s?(?:选项|项)?(?:也?是)?(?:不(?!选\s?[A-Z]|过|仅)|错))"
)
#: What takes back the statement before it.
_RETRACTED = re.compile(
    r"(?i:\b(?:actually|wait|hmm)[,. ]{1,2}no\b|\bno,? (?:actually|wait)\b"
    r"|\b(?:scratch that|on second thoughts?|correction:))"
)


class Choice(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer chooses the right letter, however it is written.

    Reads `B`, `(b)`, `**B.** because …`, `The answer is B`, `\\boxed{B}`, `<answer>B</answer>`,
    `答案是B`, `选 B`. The last statement counts, and what is refused (`B is wrong`, `不选B`) is not
    chosen. Naming two letters, or none, is wrong.

    letter: the right letter, or a list of right letters; without it, what the case expects
    letters: the letters to choose from (ABCD)

    Example: {choice: B}
    """

    name: ClassVar[str] = "choice"
    main: ClassVar[str] = "letter"
    letter: Texts = None
    letters: str = "ABCD"

    def __post_init__(self) -> None:
        if not (self.letters.isascii() and self.letters.isalpha() and self.letters.isupper()):
            raise ConfigError("expected capital letters such as ABCD", field="letters")
        for text in list_texts(self.letter):
            if self._clean(text) is None:
                raise ConfigError(f"{shorten(text)} is none of {self.letters}", field="letter")

    def _clean(self, text: str) -> str | None:
        letter = text.strip(" ().").upper()
        return letter if len(letter) == 1 and letter in self.letters else None

    def measure(self, case: Case, trace: Trace) -> Signal:
        right = []
        for text in read_texts(self.letter, case):
            letter = self._clean(text)
            if letter is None:
                message = f"expected one of the letters {self.letters}, got {shorten(text)}"
                raise CaseError(case.id, "expected", message)
            right.append(letter)
        chosen = find_choice(trace.answer, self.letters)
        wanted = " or ".join(right)
        if len(chosen) != 1:
            named = ", ".join(sorted(chosen))
            what = f"names {named}" if chosen else "chooses none of the letters"
            return self.decide(False, f"the answer {what}, expected {wanted}")
        (letter,) = chosen
        return self.decide(letter in right, f"the answer chooses {letter}, expected {wanted}")


def find_choice(answer: str, letters: str = "ABCD") -> set[str]:
    """Return the letters that an answer chooses: one, several if it hedges, or none.

    Looked for in this order: a tag or box; the last statement such as "the answer is B"; a first or
    last line that is, or begins with, a letter; one letter standing alone anywhere.
    """
    text = remove_thinking(answer)[-_MAX_READ:].translate(_WIDE).strip()
    marked = find_tagged(text)
    if marked is None:
        marked = find_boxed(text)
    if marked is not None:
        found = _read_marked(marked, letters)
        return found or _read_prose(marked, letters)
    return _read_prose(text, letters)


def _read_marked(text: str, letters: str) -> set[str]:
    """Return the letters in a box or tag: `B`, `(B)`, `\\text{B}`, `B. Paris`."""
    inner = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\b|[{}$]", " ", text[:500]).strip()
    if re.fullmatch(r"[\s(\[]*[A-Za-z][\s)\].]*", inner):
        letter = inner.strip(" ()[].").upper()
        return {letter} if letter in letters else set()
    return _read_line_start(inner, letters)


def _read_prose(text: str, letters: str) -> set[str]:
    stated = _read_statement(text, letters)
    if stated is not None:
        return stated
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    alone = {one for line in lines for one in _read_lone_letter(line, letters)}
    if len(alone) == 1 and _read_lone_letter(lines[0], letters) | _read_lone_letter(
        lines[-1], letters
    ):
        return alone
    for line in dict.fromkeys((*lines[-1:], *lines[:1])):
        if found := _read_line_start(line, letters):
            listed = sum(bool(_read_line_start(one, letters)) for one in lines)
            return found if listed == 1 else _list_starts(lines, letters)
    return _find_mentioned(text, letters)


def _read_lone_letter(line: str, letters: str) -> set[str]:
    """Return the letter that a line consists of: `B`, `(b)`, `**B.**`."""
    letter = line[:20].strip("*_`>#'\"()[]. ").upper() if len(line) <= 20 else ""
    return {letter} if len(letter) == 1 and letter in letters else set()


def _find_mentioned(text: str, letters: str) -> set[str]:
    """Return the letters that stand alone anywhere in a text and are not refused."""
    return {
        match[1]
        for match in _MENTIONED.finditer(text)
        if match[1] in letters
        and not (match[1] == "A" and _ARTICLE.match(text[match.end() : match.end() + 8]))
        and not _is_refused(text, match.start())
    }


def _is_refused(text: str, place: int) -> bool:
    """Whether the letter at a place is refused, by the words of its clause or those after it."""
    clause = _CLAUSE.split(text[max(0, place - 80) : place + 1])[-1][:-1]
    return bool(_NEGATION.search(clause) or _REFUSED.match(text, place + 1))


def _list_starts(lines: list[str], letters: str) -> set[str]:
    """Return all letters that begin a line: an answer that repeats the options chooses none."""
    return set().union(*(_read_line_start(line, letters) for line in lines))


def _read_statement(text: str, letters: str) -> set[str] | None:
    """Return the letters of the last statement such as "the answer is B"; None if there is none."""
    last: set[str] | None = None
    ended = 0
    for match in _STATEMENT.finditer(text):
        letter = match[match.lastgroup or 0]
        after = text[match.end() : match.end() + 60]
        if letter.upper() not in letters:
            continue
        if letter in "aA" and _ARTICLE.match(after):
            continue  # "the answer is a number"
        if _is_refused(text, match.end() - 1):
            last = last - {letter.upper()} if last else last
            continue
        found = {letter.upper()}
        while joined := _JOINED.match(after):
            after = after[joined.end() :]
            if not _REFUSED.match(after):
                found.add(joined[1])
        last, ended = {one for one in found if one in letters}, match.end()
    if last and (retracted := _RETRACTED.search(text, ended)):
        return _find_mentioned(text[retracted.end() :], letters)
    return last


def _read_line_start(line: str, letters: str) -> set[str]:
    """Return the letter that a line is, or begins with: `B`, `(B)`, `**B.** Paris`, `B: Paris`."""
    match = re.match(
        r"[*_`#>\s\"'(\[]{0,6}([A-Za-z])(?=[)\].:、,*_`\"'\s]|$)([)\].:、,*_`\"']*)", line
    )
    if match is None or match[1].upper() not in letters or _REFUSED.match(line, match.end(1)):
        return set()
    rest = line[match.end() :].strip(" .*_`)")
    if rest and not match[2]:
        return set()  # "A number of people"
    if match[1].islower() and rest and ")" not in match[2] and "." not in match[2]:
        return set()
    joined = _JOINED.match(line, match.end(1))
    found = {match[1].upper()}
    if joined and joined[1] in letters:
        found.add(joined[1])
    return found
