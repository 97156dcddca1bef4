"""Find every regular expression of the package, and the texts that could make each one slow.

Nothing is listed by hand: the calls of `re` are found in the syntax trees of all modules, and their
arguments are evaluated in the modules. Run as a program, this file measures the patterns, so that
one that takes exponential time can be killed: `python -m tests.patterns`.
"""

import ast
import importlib
import inspect
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

from fourscore.judges import failures

SOURCES = Path(__file__).parents[1] / "src"
#: Calls of `re` that take a pattern, and the position of their flags.
CALLS = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}
CALLS |= {"split": 3, "sub": 4, "subn": 4}
#: Methods that try to match at one place only. All others search, so each start must be cheap.
ANCHORED = frozenset({"match", "fullmatch"})


class Found(NamedTuple):
    """A pattern, the file and line where it is written, and the methods that are called on it."""

    place: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


class Unknown(NamedTuple):
    """A call of `re` whose pattern is only known when the program runs."""

    file: str
    call: str


def find_patterns(folder: Path = SOURCES) -> tuple[list[Found], list[Unknown]]:
    """Return the patterns in all modules under a folder, and the calls that cannot be evaluated."""
    places: dict[tuple[str, int], str] = {}
    uses: dict[tuple[str, int], set[str]] = {}
    unknown: list[Unknown] = []
    for file in sorted(folder.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if not re.search(r"\bre\b|_RE\b|\.(?:sub|search|fullmatch|finditer|findall)\(", text):
            continue
        name = ".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        module, tree = importlib.import_module(name), ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "re":
                unknown.append(Unknown(str(file.relative_to(folder)), ast.unparse(node)))
        for node, parents in _walk(tree):
            if isinstance(node, ast.Call) and (method := _get_re_call(node)):
                try:
                    pattern = _evaluate_call(node, method, module)
                except NameError:
                    unknown.append(Unknown(str(file.relative_to(folder)), ast.unparse(node)))
                    continue
                key = pattern.pattern, pattern.flags
                places.setdefault(key, f"{file.relative_to(folder)}:{node.lineno}")
                if method != "compile":
                    uses.setdefault(key, set()).add(method)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                used = _get_pattern(node, module)
                if used is not None:
                    key = used.pattern, used.flags
                    uses.setdefault(key, set()).add(_get_method(node, parents))
    found = [
        Found(place, re.compile(*key), frozenset(uses.get(key, {"?"})))
        for key, place in places.items()
    ]
    return found, unknown


def _walk(
    node: ast.AST, parents: tuple[ast.AST, ...] = ()
) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    yield node, parents
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, (*parents, node))


def _get_re_call(node: ast.Call) -> str | None:
    func = node.func
    is_re = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
    if is_re and func.value.id == "re" and func.attr in CALLS:  # type: ignore[attr-defined]
        return func.attr  # type: ignore[attr-defined,no-any-return]
    return None


def _evaluate_call(node: ast.Call, method: str, module: ModuleType) -> re.Pattern[str]:
    flags = next((word.value for word in node.keywords if word.arg == "flags"), None)
    if flags is None and len(node.args) > CALLS[method]:
        flags = node.args[CALLS[method]]
    pattern = _evaluate(node.args[0], module)
    return re.compile(pattern, _evaluate(flags, module) if flags is not None else 0)


def _evaluate(node: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(vars(module)))


def _get_pattern(node: ast.Name | ast.Attribute, module: ModuleType) -> re.Pattern[str] | None:
    """Return the pattern that a name of the module, or `module.name`, stands for."""
    value: Any = None
    if isinstance(node, ast.Name):
        value = vars(module).get(node.id)
    elif isinstance(node.value, ast.Name) and inspect.ismodule(vars(module).get(node.value.id)):
        value = getattr(vars(module)[node.value.id], node.attr, None)
    return value if isinstance(value, re.Pattern) else None


def _get_method(node: ast.AST, parents: Sequence[ast.AST]) -> str:
    """Return the method that is called on a pattern; `?` where the pattern is passed on."""
    attribute = parents[-1]
    if not isinstance(attribute, ast.Attribute) or attribute.value is not node:
        return "?"
    if attribute.attr == "pattern":
        return "fullmatch"  # a part of another pattern, which is measured as a whole
    call = parents[-2]
    is_call = isinstance(call, ast.Call) and call.func is attribute
    # With a position it may be called at every place of a text, as a search does.
    return attribute.attr if is_call and len(call.args) == 1 else "?"  # type: ignore[attr-defined]


# The texts: runs of one character of each class, of the pattern's own words, and of pairs of these,
# also behind a text that leads to each repetition in the pattern.

REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
#: Repetitions up to which a piece of a pattern counts as bounded.
LONG = 200
#: One character of every kind that patterns tell apart.
KINDS = " \n\t\raA7_.,;:!?-'\"`*#/\\|<>()[]{}&%$@=+~^é中一。，“”（）\u00a0\u200b\x00😀"


class HostileText(NamedTuple):
    """A beginning, what is repeated after it, and an end."""

    head: str
    run: str
    tail: str = ""

    def write(self, size: int) -> str:
        return self.head + self.run * (size // len(self.run) + 1) + self.tail


def list_texts(pattern: re.Pattern[str]) -> Iterator[HostileText]:
    """Yield the hostile texts for a pattern."""
    tree = sre_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    words, heads = _read_tree(tree)
    letters = _pick_letters(tree, chain(KINDS, *words))
    words = [word for word in words if len(word) > 1]
    yield from (HostileText("", one) for one in chain(letters, words))
    long = [each for low, high, each in _list_repeats(tree) if high > LONG]
    if not long:  # a match has a greatest length, so no text is slower than its length says
        return
    classes = [one for each in long for one in _list_classes(each, is_repeated=True)]
    repeated = [one for one in letters if any(_fits_any_case(*each, one) for each in classes)]
    repeated = repeated or letters
    for one, other in product(repeated, [*letters, *words]):
        if one != other:
            yield HostileText("", one + other)
            yield HostileText("", one, other)
    for head, letter in product(heads, repeated):
        yield HostileText("", head + letter)
        yield from (HostileText(head, letter, tail) for tail in ("", "\x00", "\nb"))


def _read_tree(tree: Any) -> tuple[list[str], list[str]]:
    """Return the literal words of a pattern, and the shortest text before each repetition."""
    words: dict[str, None] = {}
    heads: dict[str, None] = {"": None}

    def read(items: Any, before: str) -> str:
        """Note words and heads; return `before` and a short text that the items match."""
        word = ""
        for op, value in items:
            if op is sre.LITERAL:
                word += chr(value)
                before += chr(value)
                continue
            if word:
                words[word] = None
                word = ""
            before = read_item(op, value, before)
        if word:
            words[word] = None
        return before

    def read_item(op: Any, value: Any, before: str) -> str:
        if op in REPEATS:
            low, _, inner = value
            heads[before] = None
            once = read(inner, before)[len(before) :]
            heads[before + once] = None
            return before + once * int(low)
        if op is sre.SUBPATTERN:
            return read(value[-1], before)
        if op is sre.ATOMIC_GROUP:
            return read(value, before)
        if op is sre.BRANCH:
            return [read(branch, before) for branch in value[1]][0]  # noqa: RUF015 - notes all
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            read(value[1], before)
            return before
        if op in (sre.IN, sre.NOT_LITERAL, sre.ANY):
            return before + next((one for one in chain("a7 .", KINDS) if _fits(op, value, one)), "")
        return before

    read(tree, "")
    return list(words), list(heads)


def _list_items(items: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all items of a pattern, at any depth."""
    for op, value in items:
        yield op, value
        if op in REPEATS:
            yield from _list_items(value[2])
        elif op is sre.SUBPATTERN:
            yield from _list_items(value[-1])
        elif op is sre.ATOMIC_GROUP:
            yield from _list_items(value)
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _list_items(branch)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _list_items(value[1])


def _list_repeats(items: Any) -> Iterator[tuple[int, int, Any]]:
    yield from (value for op, value in _list_items(items) if op in REPEATS)


def _list_classes(items: Any, is_repeated: bool = False) -> Iterator[tuple[Any, Any]]:
    """Yield the classes of a pattern, and the literals that it repeats."""
    for op, value in _list_items(items):
        if op in (sre.IN, sre.NOT_LITERAL, sre.ANY) or (op is sre.LITERAL and is_repeated):
            yield op, value
        elif op in REPEATS and not is_repeated:
            yield from ((each, of) for each, of in _list_items(value[2]) if each is sre.LITERAL)


def _pick_letters(tree: Any, letters: Iterator[str]) -> list[str]:
    """Return one letter for each set of the pattern's classes that a letter can belong to.

    A pattern cannot tell two letters apart that belong to the same classes.
    """
    classes = list({repr(one): one for one in _list_classes(tree)}.values())
    ends = (
        chr(end)
        for op, value in classes
        if op is sre.IN
        for kind, item in value
        for end in (item if kind is sre.RANGE else [item] if kind is sre.LITERAL else [])
    )
    picked: dict[tuple[bool, ...], str] = {}
    for letter in chain(letters, ends):
        key = tuple(_fits_any_case(*one, letter) for one in classes)
        picked.setdefault((*key, letter == "\n", letter.isalnum()), letter)
    return list(picked.values())


_CATEGORIES: Mapping[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
}
_OPPOSITES = {
    sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
    sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
    sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
}


def _fits_any_case(op: Any, value: Any, letter: str) -> bool:
    return _fits(op, value, letter) or _fits(op, value, letter.swapcase())


def _fits(op: Any, value: Any, letter: str) -> bool:
    """Whether an item of a pattern matches a letter."""
    code = ord(letter[0])
    if op is sre.ANY:
        return letter != "\n"
    if op is sre.LITERAL:
        return bool(code == value)
    if op is sre.NOT_LITERAL:
        return bool(code != value)
    if op is sre.RANGE:
        return bool(value[0] <= code <= value[1])
    if op is sre.CATEGORY:
        if value in _OPPOSITES:
            return not _CATEGORIES[_OPPOSITES[value]](letter)
        return _CATEGORIES[value](letter)
    is_negated = value[0][0] is sre.NEGATE
    return is_negated != any(_fits(kind, item, letter) for kind, item in value[is_negated:])


# Measuring. A first measurement at a small size tells which texts could be slow; only those are
# measured at two larger sizes, whose ratio decides.

SIZE, FEW, MANY = 1_000, 4_000, 16_000
#: Seconds in which the small text is certainly linear: a quadratic pattern takes longer.
QUICK = 0.0003
#: Seconds of CPU after which a pattern takes exponential time.
PATIENCE = 40


def measure(pattern: Found) -> str | None:
    """Return the text for which a pattern takes more than linear time, or None."""
    run = _choose_call(pattern)
    for text in list_texts(pattern.pattern):
        small = _time(run, text.write(SIZE), 1)
        if small < QUICK or _time(run, text.write(FEW), 1) < 7 * small:
            continue
        few, many = text.write(FEW), text.write(MANY)
        if all(_time(run, many) > 8 * max(_time(run, few), QUICK) for _ in range(3)):
            times = f"{_time(run, few):.4f} s, {len(many)}: {_time(run, many):.4f} s"
            return f"{text}: {len(few)} characters: {times}"
    return None


def _choose_call(pattern: Found) -> Callable[[str], object]:
    if isinstance(pattern.pattern.pattern, bytes):  # it reads encoded text
        encoded: Any = pattern.pattern
        return lambda text: [None for _ in encoded.finditer(text.encode())]
    if pattern.methods <= ANCHORED:
        calls = [getattr(pattern.pattern, method) for method in sorted(pattern.methods)]
        return lambda text: [call(text) for call in calls]
    return lambda text: [None for _ in pattern.pattern.finditer(text)]


def _time(run: Callable[[str], object], text: str, times: int = 2) -> float:
    """CPU time of the fastest of some calls; a long one need not be repeated."""
    best = float("inf")
    for _ in range(times):
        began = time.thread_time()
        run(text)
        best = min(best, time.thread_time() - began)
        if best > 0.05:
            break
    return best


def find_all() -> list[Found]:
    """Return all patterns of the package, with those that `failures` makes from lists of lines."""
    found, _ = find_patterns()
    for name, value in vars(failures).items():
        if name.isupper() and isinstance(value, str):
            pattern, methods = failures._compile(value, re.IGNORECASE), frozenset({"search"})
            found.append(Found(f"{failures.__name__}.{name}", pattern, methods))
        elif name.isupper() and isinstance(value, Mapping):
            found += [
                Found(f"{failures.__name__}.{name}[{key}]", failures._compile(each), ANCHORED)
                for key, each in value.items()
            ]
    return found


def main() -> None:
    """Measure the patterns from a number on, or those that are given as arguments."""
    if sys.argv[1].isdecimal():
        patterns, patience = find_all()[int(sys.argv[1]) :], PATIENCE
    else:
        patterns = [Found(each, re.compile(each), frozenset("?")) for each in sys.argv[1:]]
        patience = 5
    for pattern in patterns:
        limit = int(time.process_time()) + patience
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        sys.stdout.write(f"{pattern.place}\t")  # first: the measurement may be killed
        sys.stdout.flush()
        sys.stdout.write(f"{measure(pattern) or ''}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
