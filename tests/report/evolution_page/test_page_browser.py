"""The lineage in Chromium: hostile texts do nothing, keys work, axe is content."""

from typing import Any

import pytest

HOSTILE = [
    "</script><script>window.pwned = 1</script>",
    "<!-- <script> window.pwned = 1 --> <img src=https://evil.example/x onerror='window.pwned=1'>",
    "<svg onload=window.pwned=1><style>@import 'https://evil.example/x.css'</style>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe><base href='https://evil.example/'>",
    "<a href='javascript:window.pwned=1' autofocus onfocus=window.pwned=1>click</a>",
    "{{constructor.constructor('window.pwned=1')()}} ${window.pwned=1} __proto__",
    "&lt;script&gt;window.pwned=1&lt;/script&gt; `'\">]]><![CDATA[",
    "abc\u202ecod.exe\u202c \u2066in\u2069 zero\u200bwidth \x1b[31mred\x1b[0m \u2028 \x07",
    "W" * 5000,
    "Z" + "\u0301" * 300 + "algo नमस्ते می‌خواهم 👩‍👩‍👧",
]
OURS = """HTML HEAD META TITLE LINK STYLE BODY A HEADER DIV P BUTTON H1 H2 H3 MAIN NOSCRIPT SECTION
UL OL LI TABLE CAPTION THEAD TBODY TR TH TD SPAN DL DT DD SCRIPT BDI B WBR svg rect line circle text
title PRE DETAILS SUMMARY""".split()


def open_version(page: Any, number: int) -> Any:
    """A version with its summary, opened."""
    page.click(f"#v{number} > summary")
    page.wait_for_selector(f"#v{number} > .version-detail[data-loaded]")
    return page.locator(f"#v{number}")


def test_hostile_texts_run_no_script(garden: Any, watch: Any, won: Any, lost: Any) -> None:
    for number, text in enumerate(HOSTILE):
        decision = lost if number % 3 else won
        garden.tried(f"{text}\n{number}", decision, why=text, strategy=text)
        garden.evolution.add_note("refused", {"strategy": text, "reason": text, "risk": text})
    garden.evolution.rollback(2, reason=HOSTILE[0], why=HOSTILE[1])
    page = watch(garden.report(), viewport={"width": 400, "height": 800})
    scripts = page.locator("script").count()
    assert page.locator(".version").count() == len(HOSTILE) + 1
    page.click("#open")
    page.click("#refused summary")
    assert page.locator(".version-detail[data-loaded]").count() == len(HOSTILE) + 1
    strange = page.evaluate(
        "ours => [...new Set([...document.querySelectorAll('*')].map(e => e.tagName))]"
        ".filter(name => !ours.includes(name))", OURS)  # fmt: skip
    assert strange == []
    assert page.evaluate("window.pwned === undefined && ({}).pwned === undefined")
    assert page.locator("script").count() == scripts
    outside = "[...document.querySelectorAll('[href],[src],[action],[srcdoc],[style]')]"
    assert page.evaluate(f"{outside}.map(e => e.getAttribute('href'))") == ["data:,", "#lineage"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    marks = page.locator("#v9 .why .ctl").all_inner_texts()
    assert marks[:4] == ["U+202E", "U+202C", "U+2066", "U+2069"]


def test_page_shows_headline(garden: Any, watch: Any) -> None:
    garden.grow()
    page = watch(garden.report())
    assert page.inner_text("h1") == "prompts"
    figures = page.inner_text("#figures")
    for words in ("version 2", "+44.5", "[+30.25, +58.75]", "3 of 5", "≤ 0.20", "1 proposal ref"):
        assert words in figures
    assert page.locator("#course circle title").count() == 5
    assert "error_rate" in page.inner_text("#rollbacks")
    assert "{language} is gone" in page.inner_text("#refused")
    assert "constraint_add" in page.inner_text("#strategies")
    summaries = {n: page.inner_text(f"#v{n} > summary") for n in (1, 2, 4, 5, 7)}
    assert "was active" in summaries[1]
    for words in ("active", "★ best", "constraint_add", "medium risk", "92.5", "+47.5 [", "n = 20"):
        assert words in summaries[2]
    assert "branch" in summaries[4]
    assert "↩ rolled back" in summaries[5]
    assert "waits for a decision" in summaries[7]


def test_version_opens_with_evidence_and_diff(garden: Any, watch: Any) -> None:
    garden.grow()
    page = watch(garden.report())
    document = open_version(page, 2).inner_text()
    for words in ("✓ accepted", "a gain that chance does not explain", "improvement", "2 of 3"):
        assert words in document
    for words in ("paired", "0.05", "45.0 to 92.5", "sources were missing", "active again"):
        assert words in document
    diff = page.locator("#v2 .diff")
    assert diff.locator(".del .sign").inner_text() == "−"
    assert diff.locator(".add .sign").inner_text() == "+"
    assert diff.locator(".add").text_content() == "+added: 2. Name each of your sources."
    mark = diff.locator(".add .part")
    assert "".join(mark.all_inner_texts()).strip() == "each of"
    line = "getComputedStyle(document.querySelector('#v2 .add .part')).textDecorationLine"
    assert page.evaluate(line) == "underline"  # not by colour alone
    assert "none: this rule ignores chance" in open_version(page, 4).inner_text()
    assert "rolled back to version 2 by error_rate" in open_version(page, 5).inner_text()


def test_many_failures_are_folded(garden: Any, watch: Any, lost: Any) -> None:
    for number in range(40):
        garden.tried(f"Try {number}.", lost)
    page = watch(garden.report())
    assert page.locator(".version").count() == 1
    assert "40 rejected 2 to 41" in page.inner_text(".failures > summary")
    page.click("#unfold")
    page.wait_for_selector("#v41", state="visible")
    assert page.locator(".version").count() == 41
    assert page.inner_text("#unfold") == "Fold failures"
    page.click("#unfold")
    page.wait_for_selector("#v41", state="hidden")


def test_url_fragment_opens_version(garden: Any, watch: Any, lost: Any) -> None:
    for number in range(25):
        garden.tried(f"Try {number}.", lost)
    page = watch(garden.report(), "#v17")
    page.wait_for_selector("#v17 > .version-detail[data-loaded]")
    top = page.evaluate("document.getElementById('v17').getBoundingClientRect().top")
    assert -5 <= top < 900
    page.evaluate("location.hash = 'v9'")
    page.wait_for_selector("#v9 > .version-detail[data-loaded]")


def test_works_by_keyboard(garden: Any, watch: Any) -> None:
    garden.grow()
    page = watch(garden.report())
    page.focus("#open")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.parentElement.id") == "v1"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("#v1[open] > .version-detail[data-loaded]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#v1:not([open])")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.wait_for_selector("#v2[open] > .version-detail[data-loaded]")


def test_light_dark_and_print_styles(garden: Any, watch: Any) -> None:
    garden.grow()
    page = watch(garden.report(), color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.click("#theme")
    assert page.evaluate(colour) != dark
    page.click("#theme")
    assert page.evaluate(colour) == dark
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert not page.is_visible("#open")
    assert page.is_visible("#tree")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_no_serious_problem(garden: Any, watch: Any, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.base")
    garden.grow()
    page = watch(garden.report(), viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.evaluate(axe.AXE_SCRIPT)
    page.click("#open")
    page.wait_for_selector("#v7 > .version-detail[data-loaded]")
    page.click("#v1 .fold summary")
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    assert [
        f"{each['id']}: {node['html'][:200]} {node.get('failureSummary')}"
        for each in found
        for node in each["nodes"]
        if each["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
