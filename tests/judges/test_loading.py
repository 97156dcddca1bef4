"""Judges by name: from files, from modules, from tutorials, and into other processes."""

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Rubric, Score, Status, Trace, fingerprint, score
from fourscore.judges.countdown import CountdownJudge
from fourscore.judges.loading import load_judge
from fourscore.judges.math import MathJudge

SHARED_WORDS = '''
from {root}.task_judge.base_judge import BaseJudge
from {root}.workflow import WorkflowOutput, WorkflowTask


class SharedWords(BaseJudge):
    """How many of all the words used stand on both sides."""

    def __init__(self, config):
        super().__init__(config)
        self.enough = (config or {{}}).get("enough", 0.5)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput):
        printed = self.words(workflow_output.metadata["final_answer"])
        hoped = self.words(workflow_task.task.metadata["answer"])
        share = len(printed & hoped) / max(1, len(printed | hoped))
        return share, share >= self.enough

    @staticmethod
    def words(sentence):
        return frozenset(sentence.lower().split())
'''
CASE = Case(id="t-1", input="Who sat where?", metadata={"answer": "the cat sat on the mat"})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if not name.startswith("fourscore"):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def scored(judge: Any, answer: str = "a cat sat on a mat") -> Score:
    (one,) = asyncio.run(score(Rubric.from_judge(judge), CASE, [Trace(output=answer)]))
    return one


# A similarity judge, as one would write it.


@pytest.mark.parametrize("root", ["ajet", "fourscore"])
@pytest.mark.parametrize(
    ("answer", "reward", "passed"),
    [
        ("The cat sat on the mat", 1.0, True),
        ("a cat sat on a mat", 4 / 6, True),
        ("a dog lay on a rug", 1 / 9, False),
        ("", 0.0, False),
    ],
)
def test_a_word_overlap_judge_loads_and_scores(
    root: str, answer: str, reward: float, passed: bool, folder: Path
) -> None:
    write(folder / "words.py", SHARED_WORDS.format(root=root))
    one = scored(load_judge("words.py->SharedWords"), answer)
    assert one.status is Status.SCORED
    assert one.reward == pytest.approx(reward)
    assert one.passed is passed
    assert [signal.name for signal in one.signals] == ["SharedWords"]


@pytest.mark.parametrize("root", ["ajet", "fourscore"])
def test_an_agentjet_judge_gets_the_configuration(root: str, folder: Path) -> None:
    write(folder / "words.py", SHARED_WORDS.format(root=root))
    assert scored(load_judge("words.py->SharedWords", {"enough": 0.9})).passed is False


def test_loads_an_async_judge(folder: Path) -> None:
    write(
        folder / "later.py",
        "import asyncio\n"
        "from ajet.task_judge.base_judge import BaseJudge\n"
        "class Later(BaseJudge):\n"
        "    async def compute_reward(self, workflow_task, workflow_output):\n"
        "        await asyncio.sleep(0)\n"
        "        return 0.25, True\n",
    )
    judge = load_judge("later.py->Later")
    assert judge.runs == "loop"
    one = scored(judge)
    assert (one.reward, one.passed) == (0.25, True)


FUNCTION = (
    "from fourscore import judge\n"
    "@judge\n"
    "def mentions(case, trace, *, word='cat'):\n"
    "    return word in trace.answer\n"
)


def test_loads_a_function_judge_with_options(folder: Path) -> None:
    write(folder / "checks.py", FUNCTION)
    assert scored(load_judge("checks.py->mentions")).passed is True
    assert scored(load_judge("checks.py->mentions", options={"word": "dog"})).passed is False
    with pytest.raises(ConfigError, match=r"^judge_options\.wrod: .* did you mean word\?$"):
        load_judge("checks.py->mentions", options={"wrod": "dog"})
    with pytest.raises(ConfigError, match=r"^judge_options\.case: unknown option; known: word$"):
        load_judge("checks.py->mentions", options={"case": "dog"})


def test_loads_a_plain_function_as_a_judge(folder: Path) -> None:
    write(folder / "checks.py", "def half(case, trace, part=0.5): return part")
    assert scored(load_judge("checks.py->half")).reward == 0.5
    assert scored(load_judge("checks.py->half", options={"part": 0.25})).reward == 0.25
    write(folder / "checks.py", "def half(case, trace): return 0.5")
    with pytest.raises(ConfigError, match=r"^judge_options\.part: .* takes no options$"):
        load_judge("checks.py->half", options={"part": 0.25})
    write(folder / "checks.py", "def any_of(case, trace, **words): return len(words) / 2")
    assert scored(load_judge("checks.py->any_of", options={"a": 1})).reward == 0.5


def test_loads_a_judge_class_with_options(folder: Path) -> None:
    write(
        folder / "core.py",
        "from fourscore import Signal\n"
        "class Fixed:\n"
        "    names = ('fixed',)\n"
        "    def __init__(self, value=1.0): self.value = value\n"
        "    async def judge(self, case, trace):\n"
        "        return [Signal(name='fixed', value=self.value)]\n"
        "class Everything:\n"
        "    best = Fixed(0.75)\n",
    )
    assert scored(load_judge("core.py->Fixed", options={"value": 0.5})).reward == 0.5
    assert scored(load_judge("core.py->Everything.best")).reward == 0.75
    with pytest.raises(ConfigError, match=r"^judge_options\.valeu: .* did you mean value\?$"):
        load_judge("core.py->Fixed", options={"valeu": 0.5})


RETURNS = """
import math
from fourscore import Score, Signal, Status
from fourscore.task_judge.base_judge import BaseJudge

class bool_:
    def __init__(self, given): self.given = given
    def item(self): return self.given

class float64:
    def __init__(self, given): self.given = given
    def item(self): return self.given
    def __float__(self): return self.given

class Custom(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return {returned}
"""


@pytest.mark.parametrize(
    ("returned", "reward", "passed"),
    [
        ("0.5", 0.5, False),
        ("1.0", 1.0, True),
        ("1.5", 1.5, True),
        ("True", 1.0, True),
        ("False", 0.0, False),
        ("(0.5, True)", 0.5, True),
        ("(2, False)", 2.0, False),
        ("Signal(name='other', value=0.5, passed=True)", 0.5, True),
        ("Score(status=Status.SCORED, value=0.5, passed=True, reward=1.5)", 1.5, True),
        ("float64(0.5)", 0.5, False),
        ("bool_(True)", 1.0, True),
        ("(float64(0.5), bool_(True))", 0.5, True),
    ],
)
def test_accepts_each_allowed_return_value_of_a_judge(
    returned: str, reward: float, passed: bool, folder: Path
) -> None:
    write(folder / "custom.py", RETURNS.format(returned=returned))
    one = scored(load_judge("custom.py->Custom"))
    assert (one.status, one.reward, one.passed) == (Status.SCORED, reward, passed)


@pytest.mark.parametrize(
    "returned",
    [
        "None",
        "'1.0'",
        "math.nan",
        "(math.inf, True)",
        "(1.0, None)",
        "(1.0, True, 'why')",
        "{}",
        "[]",
        "object()",
        "float64(math.nan)",
    ],
)
def test_refuses_other_return_values_of_a_judge(returned: str, folder: Path) -> None:
    write(folder / "custom.py", RETURNS.format(returned=returned))
    one = scored(load_judge("custom.py->Custom"))
    assert (one.status, one.reward, one.passed) == (Status.JUDGE_ERROR, None, None)
    assert one.reason.startswith("Custom: judge 'Custom' returned ")


# Where a judge is found.


def constant(value: float) -> str:
    return f"def same(case, trace): return {value}"


def test_two_files_of_the_same_name_are_two_modules(folder: Path) -> None:
    write(folder / "a" / "checks.py", constant(0.25))
    write(folder / "b" / "checks.py", constant(0.75))
    judges = [load_judge("a/checks.py->same"), load_judge("b/checks.py->same")]
    assert [scored(judge).reward for judge in judges] == [0.25, 0.75]


def test_an_edited_file_of_the_same_second_and_size_is_loaded_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = write(folder / "checks.py", constant(0.25))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert scored(load_judge("checks.py->same")).reward == 0.25
    write(path, constant(0.75))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert scored(load_judge("checks.py->same")).reward == 0.75
    assert not list(folder.rglob("*.pyc"))


def test_a_file_that_was_edited_is_loaded_again(folder: Path) -> None:
    path = write(folder / "checks.py", constant(0.25))
    before = load_judge("checks.py->same")
    write(path, constant(0.75))
    after = load_judge("checks.py->same")
    assert [scored(judge).reward for judge in (before, after)] == [0.25, 0.75]


@pytest.mark.parametrize("protocol", ["checks.py->same", "./checks.py->same"])
def test_searches_the_given_folders_before_the_working_directory(
    protocol: str, folder: Path
) -> None:
    write(folder / "checks.py", constant(0.25))
    write(folder / "config" / "checks.py", constant(0.75))
    assert scored(load_judge(protocol)).reward == 0.25
    assert scored(load_judge(protocol, folders=[str(folder / "config")])).reward == 0.75
    assert scored(load_judge(protocol, folders=[str(folder / "empty")])).reward == 0.25


def test_accepts_paths_with_dot_dot_and_absolute_paths(folder: Path) -> None:
    path = write(folder / "judges" / "checks.py", constant(0.25))
    config = str(write(folder / "config" / "a.yaml", "").parent)
    assert scored(load_judge("../judges/checks.py->same", folders=[config])).reward == 0.25
    assert scored(load_judge(f"{path}->same")).reward == 0.25


def test_searches_modules_in_folders_and_working_directory(folder: Path) -> None:
    write(folder / "config" / "shelf_one" / "checks.py", constant(0.25))
    write(folder / "shelf_two" / "checks.py", constant(0.75))
    folders = [str(folder / "config")]
    assert scored(load_judge("shelf_one.checks->same", folders=folders)).reward == 0.25
    assert scored(load_judge("shelf_two.checks->same", folders=folders)).reward == 0.75


def test_an_installed_module_wins_over_a_folder(folder: Path) -> None:
    write(folder / "json.py", constant(1.0))
    with pytest.raises(ConfigError, match=r"json imports .*json/__init__\.py, not .*name its file"):
        load_judge("json->same")


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        ("math", MathJudge),
        ("countdown", CountdownJudge),
        ("MathAnswerAsJudge", MathJudge),
        ("CountdownAnswerAsJudge", CountdownJudge),
        ("tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJudge", MathJudge),
        (
            "tutorial.example_countdown.countdown_answer_as_judge->CountdownAnswerAsJudge",
            CountdownJudge,
        ),
        ("fourscore.task_judge->MathAnswerAsJudge", MathJudge),
        ("ajet.task_judge->CountdownAnswerAsJudge", CountdownJudge),
    ],
)
def test_agentjet_paths_load_the_built_in_judges(protocol: str, kind: type) -> None:
    assert load_judge(protocol) == kind()


def test_a_built_in_judge_takes_its_options_from_the_configuration() -> None:
    config = {"ajet": {"task_judge": {"judge_options": {"format_score": 0.2}}}}
    assert load_judge("countdown", config) == CountdownJudge(format_score=0.2)


def test_a_users_module_with_a_tutorial_name_wins(folder: Path) -> None:
    own = "tutorial/example_math_agent/math_answer_as_judge.py"
    text = SHARED_WORDS.format(root="ajet").replace("SharedWords", "MathAnswerAsJudge")
    write(folder / own, text)
    judge = load_judge("tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJudge")
    assert scored(judge).reward == pytest.approx(4 / 6)


def test_a_users_tutorial_package_does_not_hide_the_built_in_judges(folder: Path) -> None:
    write(folder / "tutorial" / "my_task" / "my_judge.py", constant(0.5))
    assert scored(load_judge("tutorial.my_task.my_judge->same")).reward == 0.5
    name = "tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJudge"
    assert load_judge(name) == MathJudge()


# What can be wrong with it.


@pytest.mark.parametrize("protocol", ["", "maths", "checks.py", "->same", "checks.py->", "a.b"])
def test_refuses_a_name_that_is_no_judge(protocol: str) -> None:
    with pytest.raises(ConfigError, match=r"is no judge: expected a built-in name"):
        load_judge(protocol)


def test_the_error_for_a_missing_file_lists_all_places_searched(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge("checks.py->same", folders=[str(folder / "config")])
    here, there = folder.resolve() / "checks.py", folder.resolve() / "config" / "checks.py"
    assert str(caught.value) == f"no such file: {there} or {here}"


def test_the_error_for_a_missing_module_names_it(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"^there is no module no_such\.checks \(searched /"):
        load_judge("no_such.checks->same")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\n\nraise ValueError('not today')\n", 3, "ValueError: not today"),
        ("def same(case, trace):\n    return = 1\n", 2, "SyntaxError"),
        ("x = 1\nimport no_such_package\n", 2, "No module named 'no_such_package'"),
        ("def broken():\n    return 1 / 0\nbroken()\n", 2, "ZeroDivisionError"),
        ("import sys\n\n\nsys.exit(0)\n", 4, "SystemExit"),
    ],
)
def test_an_import_error_names_file_and_line(
    text: str, line: int, words: str, folder: Path
) -> None:
    path = write(folder / "checks.py", text).resolve()
    with pytest.raises(ConfigError, match=words) as caught:
        load_judge("checks.py->same")
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(caught.value).startswith(f"{path}:{line}: the module cannot be imported: ")


def test_a_repaired_file_can_be_loaded(folder: Path) -> None:
    path = write(folder / "checks.py", "1 / 0")
    with pytest.raises(ConfigError):
        load_judge("checks.py->same")
    write(path, constant(1.0))
    assert scored(load_judge("checks.py->same")).reward == 1.0


def test_a_missing_dependency_is_not_reported_as_a_missing_judge_module(folder: Path) -> None:
    write(folder / "shelf_three" / "checks.py", "import no_such_package")
    with pytest.raises(ConfigError, match=r"shelf_three.*No module named 'no_such_package'"):
        load_judge("shelf_three.checks->same")


def test_the_error_of_a_failing_module_names_it(folder: Path) -> None:
    write(folder / "shelf_five" / "checks.py", "raise ValueError('not today')")
    with pytest.raises(ConfigError, match=r"shelf_five.*ValueError: not today"):
        load_judge("shelf_five.checks->same")


def test_an_interrupt_while_importing_is_raised(folder: Path) -> None:
    path = write(folder / "checks.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_judge("checks.py->same")
    write(path, constant(1.0))
    assert scored(load_judge("checks.py->same")).reward == 1.0


def test_the_error_for_a_wrong_option_names_it() -> None:
    with pytest.raises(ConfigError, match=r"^judge_options\.thnk: .*did you mean think\?"):
        load_judge("math", {"thnk": "keep"})


def test_the_error_for_a_missing_name_suggests_the_nearest(folder: Path) -> None:
    write(folder / "words.py", SHARED_WORDS.format(root="fourscore"))
    with pytest.raises(
        ConfigError, match=r"the module has no SharedWord; did you mean SharedWords\?$"
    ):
        load_judge("words.py->SharedWord")
    with pytest.raises(
        ConfigError, match=r"has no MathAnswerAsJugde; did you mean MathAnswerAsJudge"
    ):
        load_judge("tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJugde")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("thing = 7", "'checks.py->thing' is neither a judge class nor a function"),
        (
            "def thing(case): return 1.0",
            r"judge 'thing' is called with \(case, trace\): too many positional arguments",
        ),
        (
            "from fourscore import judge\n@judge\ndef thing(output): return 1.0",
            r"judge 'thing' is called with \(case, trace\): too many positional arguments",
        ),
        (
            "class thing:\n    compute_reward = None\n    def __init__(self, config): {}['lost']",
            r"'checks.py->thing' could not be made: KeyError: 'lost'",
        ),
    ],
)
def test_refuses_objects_that_are_no_judge(text: str, words: str, folder: Path) -> None:
    write(folder / "checks.py", text)
    with pytest.raises(ConfigError, match=words):
        load_judge("checks.py->thing")


# Into another process.

ELSEWHERE = """
import asyncio, pickle, sys
from fourscore import Case, Rubric, Trace, score
try:
    judge = pickle.load(sys.stdin.buffer)
except Exception as error:
    print(type(error).__name__, error)
else:
    case = Case(id="t-1", input="q", metadata={"answer": "the cat sat on the mat"})
    traces = [Trace(output="a cat sat on a mat")]
    (one,) = asyncio.run(score(Rubric.from_judge(judge), case, traces))
    print(one.status, one.reward, one.passed)
"""


def elsewhere(judge: Any, folder: Path) -> str:
    """What a new process, started in another folder, makes of a judge."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input=pickle.dumps(judge),
        cwd=write(folder / "elsewhere" / "empty", "").parent,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


@pytest.mark.parametrize("root", ["ajet", "fourscore"])
def test_a_file_judge_is_loaded_again_in_another_process(root: str, folder: Path) -> None:
    write(folder / "words.py", SHARED_WORDS.format(root=root))
    judge = load_judge("words.py->SharedWords", {"enough": 0.9})
    assert elsewhere(judge, folder) == f"scored {4 / 6} False"


@pytest.mark.parametrize(
    ("word", "printed"), [("mat", "scored 1.0 True"), ("dog", "scored 0.0 False")]
)
def test_a_file_function_keeps_its_options_in_another_process(
    word: str, printed: str, folder: Path
) -> None:
    write(folder / "checks.py", FUNCTION)
    assert elsewhere(load_judge("checks.py->mentions", options={"word": word}), folder) == printed


def test_a_judge_in_a_module_is_loaded_again_in_another_process(folder: Path) -> None:
    write(folder / "shelf_four" / "checks.py", constant(0.5))
    assert elsewhere(load_judge("shelf_four.checks->same"), folder) == "scored 0.5 False"


def test_two_files_of_the_same_name_stay_apart_in_another_process(folder: Path) -> None:
    write(folder / "a" / "checks.py", constant(0.25))
    write(folder / "b" / "checks.py", constant(0.75))
    printed = [elsewhere(load_judge(f"{place}/checks.py->same"), folder) for place in "ab"]
    assert printed == ["scored 0.25 False", "scored 0.75 False"]


def test_a_built_in_judge_loads_in_another_process(folder: Path) -> None:
    assert elsewhere(load_judge("math"), folder) == "scored 0.0 False"


def test_unpickling_refuses_a_file_that_has_changed(folder: Path) -> None:
    path = write(folder / "checks.py", constant(0.5))
    judge = load_judge("checks.py->same")
    write(path, constant(1.0))
    printed = elsewhere(judge, folder)
    assert printed.startswith("ConfigError ")
    assert str(path.resolve()) in printed
    assert printed.endswith("the file has changed since the judge was loaded")


def test_pickling_in_the_same_process_keeps_judge_and_fingerprint(folder: Path) -> None:
    path = write(folder / "checks.py", constant(0.5))
    pickled = pickle.dumps(load_judge("checks.py->same"))
    again = pickle.loads(pickled)
    assert scored(again).reward == 0.5
    assert pickle.loads(pickle.dumps(again)).fingerprint == again.fingerprint
    write(path, constant(1.0))
    with pytest.raises(ConfigError, match="the file has changed since the judge was loaded"):
        pickle.loads(pickled)


def test_unpickling_names_a_file_that_is_gone(folder: Path) -> None:
    path = write(folder / "checks.py", constant(0.5))
    judge = load_judge("checks.py->same")
    path.unlink()
    assert str(path.resolve()) in elsewhere(judge, folder)


def test_the_fingerprint_follows_the_file_and_the_options(folder: Path) -> None:
    path = write(folder / "checks.py", FUNCTION)
    judges = [
        load_judge("checks.py->mentions"),
        load_judge("checks.py->mentions", options={"word": "dog"}),
    ]
    write(path, FUNCTION.replace("in trace", "not in trace"))
    judges.append(load_judge("checks.py->mentions"))
    assert len({fingerprint(judge) for judge in judges}) == 3
    assert fingerprint(load_judge("checks.py->mentions")) == fingerprint(judges[2])


@pytest.mark.parametrize(
    ("options", "module"),
    [
        ({}, "fourscore.judges.dimensions.factual_accuracy"),
        ({"by": "rules"}, "fourscore.judges.dimensions.factual_accuracy"),
        ({"model": "scripted:gullible"}, "fourscore.judges.llm.factual_accuracy"),
        ({"by": "model", "model": "scripted:gullible"}, "fourscore.judges.llm.factual_accuracy"),
    ],
)
def test_option_by_chooses_rules_local_or_model(options: dict[str, Any], module: str) -> None:
    assert type(load_judge("factual_accuracy", options=options)).__module__ == module


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("factual_accuracy", {"by": "magic"}, "with.by: expected rules, local or model"),
        ("factual_accuracy", {"by": "model"}, "with.model: by: model needs a model such as"),
        ("factual_accuracy", {"by": "local"}, "with.model: by: local needs a folder or hub id"),
        ("factual_accuracy", {"by": "rules", "model": "x"}, "with.model: by: rules asks no model"),
        ("tool_efficiency", {"by": "local", "model": "x"}, "with.by: tool_efficiency has no judge"),
    ],
)
def test_refuses_invalid_combinations_of_by_and_model(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        load_judge(name, options=options)
    assert message in str(error.value)


def test_a_tutorial_module_that_cannot_be_imported_gives_the_built_in_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "tutorial.example_math_agent.math_answer_as_judge"
    file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
    file.parent.mkdir(parents=True)
    file.write_text("import a_library_that_agentjet_needs")
    monkeypatch.syspath_prepend(tmp_path)
    judge = load_judge(f"{module}->MathAnswerAsJudge", folders=[str(tmp_path)])
    assert isinstance(judge, MathJudge)
