"""The report in Chromium: hostile outputs do nothing, keys and filters work, axe is content."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from fourscore.core import Case, Evidence, Fault, Message, Score, Signal, Status, ToolCall, Trace

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "</SCRIPT ><script>window.pwned = 1</script>",
    "<!-- <script> window.pwned = 1",
    "--> <img src=x onerror='window.pwned = 1'>",
    "<img src=https://evil.example/x.png>",
    "<svg onload=window.pwned=1><animate onbegin=window.pwned=1 attributeName=x dur=1s>",
    "<svg><script href='data:text/javascript,window.pwned=1'></script></svg>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<iframe src='javascript:parent.pwned=1'></iframe>",
    "<a href='javascript:window.pwned=1' autofocus onfocus=window.pwned=1>click</a>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href='https://evil.example/'>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>@import 'https://evil.example/x.css'; body { display: none }</style>",
    "<style>*{background:url(https://evil.example/?x)}</style>",
    "<form action='https://evil.example/'><input name=q autofocus><button>go</button></form>",
    "<object data='data:text/html,<script>window.pwned=1</script>'></object>",
    "<embed src='https://evil.example/x.swf'><audio src=x onerror=window.pwned=1>",
    "<template><script>window.pwned=1</script></template><dialog open>hello</dialog>",
    "{{constructor.constructor('window.pwned=1')()}} ${window.pwned=1} <%= window.pwned=1 %>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt; &#60;img src=x onerror=window.pwned=1&#62;",
    "`'\"><script>window.pwned=1</script>",
    "]]><script>window.pwned=1</script><![CDATA[",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==",
    "abc\u202ecod.exe\u202c \u2066inside\u2069 \u200f\u200e\u061c",
    "zero\u200bwidth\ufeff soft\u00adhyphen tag\U000e0041\U000e0042 v\ufe01\ufe02",
    "line\u2028separator\u2029paragraph \x85 next",
    "nul\x00byte \x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link \x08\x7f",
    "lone \ud800 surrogate \udfff and \ufffe\uffff",
    "W" * 20_000,
    "a\r\nb\rc\tπ 👩‍👩‍👧 नमस्ते می‌خواهم",
    "__proto__ constructor toString '; DROP TABLE traces; --",
    '{"__proto__": {"pwned": 1}} \\u003cscript\\u003e \\" \\',
    "Z" + "\u0301" * 300 + "algo",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1></style></mglyph>",
    "<plaintext><xmp><noscript><textarea><title><marquee onstart=window.pwned=1>",
]


def scored(value: float, *signals: Signal, reason: str = "") -> Score:
    passed = value >= 0.7
    return Score(status=Status.SCORED, value=value, passed=passed, reward=value, signals=signals,
                 reason=reason)  # fmt: skip


def hostile(n: int, text: str) -> Any:
    """The text wherever a run can say something."""
    short = text[:200]
    pieces = (
        Evidence(text=text, start=0, end=len(text)),
        Evidence(text=text, field=text),
        Evidence(text=text, field="steps", step=1),
    )
    call = ToolCall(name=short, arguments={short: text}, result=text, error=text, exit_code=1)
    trace = Trace(output=text, steps=(Message(role=short, content=text), call))
    signals = (
        Signal(name=f"s {short}", value=0.2, level=short, reason=text, evidence=pieces),
        Signal(name="broken", fault=Fault("error", text)),
    )
    case = Case(id=f"{n} {short}", input=text, expected={short: [text]}, tags=(short,),
                complexity=short)  # fmt: skip
    return case, trace, scored(0.2, *signals, reason=text)


def ordinary(n: int) -> Any:
    output = f"The answer to number {n} is {n * 7}, as Smith (2019) wrote. It is not certain."
    start = output.index("as Smith")
    pieces = (Evidence(text="as Smith (2019) wrote", start=start, end=start + 21),)
    steps = (
        Message(role="user", content="What is it?"),
        ToolCall(name="search", arguments={"q": f"number {n}"}, result="nothing", seconds=0.2),
    )
    value = (n * 37 % 101) / 100
    signals = (
        Signal(name="accuracy", value=value, level="good" if value > 0.7 else "poor",
               reason="one source", evidence=pieces),
        Signal(name="tool_use", value=1 - value / 2, evidence=(
            Evidence(text="search(q)", field="steps", step=1),)),
        Signal(name="refusal", reason="nothing to refuse"),
    )  # fmt: skip
    case = Case(
        id=f"case-{n:04}",
        input=f"What is {n} times seven?",
        expected=str(n * 7),
        tags=(("even", "odd")[n % 2], "sums"),
        complexity=("simple", "complex")[n % 3 == 0],
    )
    if n % 25 == 24:
        trace = Trace(fault=Fault("timeout", "no answer within 60 s"), seconds=60.0)
        return case, trace, Score(status=Status.TIMEOUT, value=0.0, passed=False, reward=0.0)
    if n % 25 == 23:
        return case, Trace(output=output), Score(status=Status.JUDGE_ERROR, reason="no model")
    return case, Trace(output=output, steps=steps, seconds=1.5), scored(value, *signals)


def rows_of(page: Any) -> Any:
    return page.locator("#table tbody tr")


def says(page: Any, where: str, text: str) -> None:
    """Wait for a text. The policy forbids `wait_for_function`, which evaluates a string."""
    page.locator(where, has_text=re.compile(f"^{text}")).wait_for()


def no_longer_in_address(page: Any, text: str) -> None:
    """Wait until the address has lost a text: a dialog's `close` event comes after the click."""
    expect(page).not_to_have_url(re.compile(re.escape(text)), timeout=180_000)


def shown(page: Any) -> str:
    return str(page.inner_text("#shown"))


# Hostile outputs

OURS = """HTML HEAD META TITLE LINK STYLE BODY A HEADER DIV P BUTTON H1 H2 H3 MAIN NOSCRIPT SECTION
UL OL LI FORM LABEL INPUT SELECT OPTION TABLE CAPTION THEAD TBODY TR TH TD NAV SPAN DL DT DD DIALOG
SCRIPT BDI B WBR svg rect line circle text title defs pattern PRE MARK SUP STRONG Q DETAILS
SUMMARY""".split()


def test_hostile_outputs_run_no_script_and_make_no_request(shelf: Any, watch: Any) -> None:
    assert len(HOSTILE) >= 30
    rows = [hostile(n, text) for n, text in enumerate(HOSTILE)]
    shelf.put(rows, name=HOSTILE[1], agent=HOSTILE[4], agent_version=HOSTILE[25],
              git_commit=HOSTILE[0], labels={HOSTILE[2]: HOSTILE[6]})  # fmt: skip
    page = watch(shelf.report())
    scripts = page.locator("script").count()
    assert rows_of(page).count() == len(HOSTILE)
    for n, (case, trace, _) in enumerate(rows):
        line = rows_of(page).nth(n)
        line.focus()
        line.press("Enter")
        page.wait_for_selector("#d-body .signals")
        shown_text = page.evaluate("""() => {
            const box = document.querySelector('#d-body pre[aria-label=Output]').cloneNode(true);
            for (const each of box.querySelectorAll('sup')) each.remove();
            for (const each of box.querySelectorAll('.ctl'))
                each.replaceWith(String.fromCodePoint(parseInt(each.textContent.slice(2), 16)));
            return box.textContent;
        }""")
        assert shown_text == str(trace.output).replace("\r\n", "\n"), case.id
        for fold in page.locator("#d-body details").all():
            fold.locator("summary").first.click()
        strange = page.evaluate(
            "ours => [...new Set([...document.querySelectorAll('*')].map(e => e.tagName))]"
            ".filter(name => !ours.includes(name))", OURS)  # fmt: skip
        assert strange == [], case.id
        page.keyboard.press("Escape")
        page.wait_for_selector("#detail[open]", state="detached")  # or the next Enter goes there
    assert page.evaluate("window.pwned === undefined && ({}).pwned === undefined")
    assert page.locator("script").count() == scripts
    outside = (
        "[...document.querySelectorAll('[href],[src],[action],[srcdoc],[style]')].map(e => e.id"
    )
    assert page.evaluate(f"{outside} + (e.getAttribute('href') || e.tagName))") == [
        "data:,",
        "#cases",
    ]
    handlers = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
    assert page.evaluate(f"{handlers}.filter(name => name.startsWith('on'))") == []


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_texts_do_not_break_the_layout(shelf: Any, watch: Any, width: int) -> None:
    shelf.put([hostile(n, text) for n, text in enumerate(HOSTILE)], name="W" * 300, agent="W" * 300)
    page = watch(shelf.report(), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    rows_of(page).nth(30).click()
    page.wait_for_selector("#d-body .signals")
    assert page.evaluate("document.getElementById('d-body').scrollWidth") <= width


def test_hidden_characters_are_shown_by_their_code(shelf: Any, watch: Any) -> None:
    shelf.put([hostile(0, HOSTILE[25]), hostile(1, HOSTILE[31])])
    page = watch(shelf.report())
    rows_of(page).nth(0).click()
    page.wait_for_selector("#d-body .signals")
    marks = page.locator("#d-body pre[aria-label=Output] .ctl").all_inner_texts()
    assert marks == ["U+202E", "U+202C", "U+2066", "U+2069", "U+200F", "U+200E", "U+061C"]
    page.keyboard.press("ArrowRight")
    says(page, "#d-title", "1 a")
    page.wait_for_selector("#d-body .signals")
    # Joiners in a family, in Devanagari and Persian have honest work.
    assert page.locator("#d-body pre[aria-label=Output] .ctl").all_inner_texts() == ["U+000D"]


# What the page shows


def test_page_shows_the_figures_of_the_run(shelf: Any, watch: Any) -> None:
    about = {"agent": "a.py:f", "agent_version": "2.1", "git_commit": "abc123"}
    about |= {"cases_digest": "d1d2", "name": "nightly"}
    shelf.put([ordinary(n) for n in range(100)], labels={"branch": "main"}, **about)
    page = watch(shelf.report())
    head = json.loads(page.text_content("#head"))["summary"]
    assert page.inner_text("h1") == "nightly"
    assert f"{100 * head['pass_rate']:.1f}%" in page.inner_text("#figures")
    assert f"n = {head['total_tests']}" in page.inner_text("#figures")
    planned = "100 planned = 92 scored + 4 timeout + 4 judge_error"
    assert page.inner_text("#planned") == planned
    about = page.inner_text("#about")
    for word in ("a.py:f", "2.1", "abc123", "d1d2", "branch = main", "run-1"):
        assert word in about
    assert page.locator("#histogram svg.histogram rect[class]").count() > 5
    assert page.locator("#dimensions tbody").first.locator("tr").count() == 2
    assert "accuracy" in page.inner_text("#dimensions")
    assert page.locator("#tags tbody tr").count() == 3
    assert page.locator("#complexities tbody tr").count() == 2


def test_table_can_be_searched_filtered_and_sorted(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(200)])
    page = watch(shelf.report())
    assert shown(page) == "200 rows; shown are 1 to 50"
    page.click("#next")
    assert "51 to 100" in shown(page)
    page.fill("#search", "CASE-001")
    assert shown(page) == "10 of 200 rows; shown are 1 to 10"
    page.fill("#search", "12 times")
    assert rows_of(page).count() == 12  # 12, 112 and 120 to 129
    page.fill("#search", "no such thing")
    assert shown(page) == "No rows of 200 match."
    page.click("#reset")
    says(page, "#shown", "200 rows")
    page.select_option("#by-status", "=timeout")
    assert shown(page).startswith("8 of 200")
    page.select_option("#by-status", "")
    page.select_option("#by-passed", "=not measured")
    assert shown(page).startswith("8 of 200")
    page.select_option("#by-passed", "")
    page.click("#tags button >> text=odd")
    assert shown(page).startswith("100 of 200")
    page.select_option("#by-tag", "")
    value = page.locator("#table thead th", has_text="Value")
    value.locator("button").click()
    assert value.get_attribute("aria-sort") == "ascending"
    cells = "[...document.querySelectorAll('#table tbody tr')].map(r => r.cells[2].textContent)"
    values = page.evaluate(cells)
    assert values == sorted(values)
    value.locator("button").click()
    assert value.get_attribute("aria-sort") == "descending"
    assert page.locator("#table thead [aria-sort]").count() == 1
    values = page.evaluate(cells)
    assert values == sorted(values, reverse=True)
    page.click("#last")
    assert page.evaluate(cells)[-1] == "–"  # without a value: last either way
    page.locator("#table thead th", has_text="tool_use").locator("button").click()
    assert "1 to 50" in shown(page)


def test_case_dialog_marks_the_evidence(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(30)])
    page = watch(shelf.report())
    rows_of(page).nth(2).click()
    page.wait_for_selector("#d-body .signals")
    assert page.inner_text("#d-title") == "case-0002"
    mark = page.locator("#d-body pre[aria-label=Output] mark")
    assert mark.inner_text() == "1as Smith (2019) wrote"
    page.click("#d-body .evidence button >> text=1")
    assert "lit" in mark.get_attribute("class")
    assert page.evaluate("document.activeElement.tagName") == "MARK"
    body = page.inner_text("#d-body")
    for words in ("What is 2 times seven?", "14", "one source", "not applicable", "tool calls"):
        assert words in body
    page.click("#d-body .evidence button >> text=2")
    assert page.locator("#d-body details[data-step='1']").get_attribute("open") is not None
    assert "evidence 2" in page.inner_text("#d-body details[data-step='1'] summary")
    page.keyboard.press("Escape")
    rows_of(page).nth(24).click()
    page.wait_for_selector("#d-body pre")
    assert "The agent failed: timeout" in page.inner_text("#d-body")


def test_page_works_by_keyboard_alone(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(120)])
    page = watch(shelf.report())
    page.focus("#all-columns") if page.is_visible("#all-columns") else page.focus("#reset")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#table tbody tr')"):
            break
    active = (
        "document.activeElement.cells && document.activeElement.cells[0].textContent.slice(0, 9)"
    )
    assert page.evaluate(active) == "case-0000"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(active) == "case-0002"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail[open] .signals")
    page.keyboard.press("ArrowRight")
    says(page, "#d-title", "case-0003")
    page.keyboard.press("Escape")
    page.wait_for_selector("#detail:not([open])", state="attached")
    assert page.evaluate(active) == "case-0003"
    page.keyboard.press("PageDown")
    assert page.evaluate(active) == "case-0050"
    page.keyboard.press("End")
    assert page.evaluate(active) == "case-0099"


def test_address_opens_the_case_it_names(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(10)])
    page = watch(shelf.report(), "#case=case-0004&repeat=1")
    page.wait_for_selector("#detail[open] .signals")
    assert page.inner_text("#d-title") == "case-0004"
    page.click("#d-close")
    no_longer_in_address(page, "#case=")


def test_theme_can_be_switched_and_is_remembered(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(10)])
    page = watch(shelf.report(), color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.click("#theme")
    light = page.evaluate(colour)
    assert dark != light
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate(colour) == light  # it is remembered
    page.click("#theme")
    assert page.evaluate(colour) == dark


def test_page_fits_a_phone(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(60)])
    page = watch(shelf.report(), viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.locator("#table thead th", has_text="accuracy").is_visible()
    page.check("#all-columns")
    assert page.locator("#table thead th", has_text="accuracy").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rows_of(page).nth(1).click()
    page.wait_for_selector("#detail[open] .signals")
    assert page.evaluate("document.getElementById('detail').getBoundingClientRect().width") == 390


def test_page_can_be_printed(shelf: Any, watch: Any) -> None:
    shelf.put([ordinary(n) for n in range(10)])
    page = watch(shelf.report())
    page.emulate_media(media="print")
    assert not page.is_visible("#filters")
    assert page.is_visible("#table")
    rows_of(page).nth(1).press("Enter")
    page.wait_for_selector("#detail[open] .signals")
    assert not page.is_visible("#table")


def test_large_run_is_compressed_and_paged(shelf: Any, watch: Any, read: Any) -> None:
    shelf.put([ordinary(n) for n in range(4000)])
    path = shelf.report()
    assert read(path).text.count('type="text/plain" class="case"') > 5
    page = watch(path)
    assert shown(page) == "4,000 rows; shown are 1 to 50"
    page.fill("#search", "case-3998")
    rows_of(page).first.click()
    page.wait_for_selector("#detail[open] pre")
    assert "number 3998 is 27986" in page.inner_text("#d-body")


def test_browser_without_decompression_gets_a_message(shelf: Any, browser: Any) -> None:
    """Says so for a large run, and shows a small one."""
    shelf.put([ordinary(n) for n in range(4000)])
    path = shelf.report()
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=failed]")
    assert "cannot decompress" in page.inner_text("#shown")
    context.close()


# Accessibility


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_serious_accessibility_problem(
    shelf: Any, watch: Any, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.base")
    rows = [ordinary(n) for n in range(120)] + [hostile(n, HOSTILE[n]) for n in (0, 25)]
    shelf.put(rows, name="nightly", labels={"branch": "main"})
    page = watch(shelf.report(), viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.evaluate(axe.AXE_SCRIPT)
    assert _serious(page) == []
    page.click("#dimensions summary")
    page.click("#table thead button")
    rows_of(page).nth(2).focus()
    assert _serious(page) == []
    rows_of(page).nth(2).press("Enter")
    page.wait_for_selector("#detail[open] .signals")
    page.click("#d-body .evidence button >> text=1")
    for fold in page.locator("#d-body details summary").all():
        fold.click()
    assert _serious(page) == []


def _serious(page: Any) -> list[str]:
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]} {node.get('failureSummary')}"
        for each in found
        for node in each["nodes"]
        if each["impact"] in ("serious", "critical")
    ]
