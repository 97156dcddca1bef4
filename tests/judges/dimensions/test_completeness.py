"""`completeness`: what covers an aspect, what only seems to, and how a question is cut."""

import asyncio
import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from rubrica.core import Case, CaseError, Signal, Trace
from rubrica.core.levels import FLOORS
from rubrica.judges.dimensions.completeness import Completeness
from rubrica.judges.dimensions.coverage.question import parts, question_of
from rubrica.judges.dimensions.finding import READ

LABELLED = Path(__file__).parents[2] / "labelled" / "completeness"
ORDER = list(FLOORS)
ASPECTS = ["pricing", "support", "security"]
ASKED = "Write an overview of Acme Mail for our buyers."
PRICE = "Acme Mail costs $4 a month for each user, or $40 a year."
SUPPORT = "Customer support answers tickets by email within four hours."
SECURITY = "All mail is encrypted with AES-256, and two-factor login is on by default."


def judged(output: Any, *aspects: Any, question: Any = ASKED) -> Signal:
    case = Case(id="x", input=question, expected={"aspects": list(aspects)} if aspects else None)
    trace = Trace(output=output)
    (signal,) = asyncio.run(Completeness().judge(case, trace))
    for piece in signal.evidence:
        assert piece.field == "output"
        assert piece.start is not None
        assert piece.text == trace.answer[piece.start : piece.end]
    return signal


def value(output: Any, *aspects: Any, question: Any = ASKED) -> float | None:
    return judged(output, *aspects, question=question).value


def test_covered() -> None:
    signal = judged(f"{PRICE} {SUPPORT} {SECURITY}", *ASPECTS)
    assert (signal.name, signal.value, signal.level) == ("completeness", 1.0, "excellent")
    assert [piece.text for piece in signal.evidence] == [PRICE, SUPPORT, SECURITY]
    assert signal.reason.startswith("3 of 3 aspects covered")


@pytest.mark.parametrize(
    "opening",
    ["Let's think step by step.", "Solution:", "让我们一步一步地思考这个问题。", ":", "解："],
)
def test_an_opening_covers_nothing(opening: str) -> None:
    assert judged(opening, *ASPECTS).value == 0.0
    signal = judged(opening, question="How high is Mount Fuji?")
    assert (signal.value, signal.level) == (0.0, "failed")
    assert "the answer is only" in signal.reason
    assert value("3776 m", question="How high is Mount Fuji?") == 1.0


def test_missing_is_named() -> None:
    signal = judged(f"{PRICE} {SECURITY}", *ASPECTS)
    assert signal.value == pytest.approx(2 / 3)
    assert "nothing of substance on 'support'" in signal.reason


def test_weights() -> None:
    heavy = {"text": "pricing", "weight": 3}
    assert value(PRICE, heavy, "security") == 0.75
    assert value(SECURITY, heavy, "security") == 0.25
    assert value(SECURITY, {"text": "pricing", "weight": 0}, "security") == 1.0


@pytest.mark.parametrize("output", ["", "  \n", None])
def test_empty_output(output: Any) -> None:
    signal = judged(output, *ASPECTS)
    assert (signal.value, signal.level) == (0.0, "failed")
    assert "empty" in signal.reason


@pytest.mark.parametrize("question", ["", None, [], [{"role": "system", "content": "hi"}], 7])
def test_nothing_to_cover_is_inapplicable(question: Any) -> None:
    signal = judged(PRICE, question=question)
    assert (signal.value, signal.fault) == (None, None)
    assert "no expected.aspects" in signal.reason


@pytest.mark.parametrize(
    "aspects",
    [[""], [{}], [{"text": 3}], [{"text": "a", "weight": -1}], [{"text": "a", "weight": "x"}], [4]],
)
def test_broken_aspects(aspects: list[Any]) -> None:
    with pytest.raises(CaseError, match="aspects"):
        value(PRICE, *aspects)


# What covers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aspect", "output"),
    [
        ("pricing", "You would be charged $20 a month for the whole team."),
        ("refund policy", "Within 30 days they give you all of it back, no questions asked."),
        ("visa requirements", "You simply show up with your passport, no paperwork beforehand."),
        ("installation", "Run `pip install acme-mail` on any machine with Python 3.11."),
        ("license", "The code is under the MIT terms, so commercial use is fine."),
        ("death toll", "Between a third and a half of all Europeans perished."),
        ("fuel economy", "Owners report 55 to 62 mpg in mixed driving."),
        ("价格", "标准版每人每月30元，十人以上打八折。"),
        ("起因", "由于连年征税，农民不满，终于引发了起义。"),
        ("续航", "标准档实测146分钟，充满需要两小时。"),
        ("储存方法", "装进保鲜袋放冰箱冷藏，可以放两个月。"),
        ("最佳时间", "三月下旬到四月上旬花开得最盛。"),
    ],
)
def test_other_words(aspect: str, output: str) -> None:
    assert value(output, aspect) == 1.0


def test_heading_with_content() -> None:
    text = "## Widget palette\nDrag any of the forty shapes onto the canvas.\n\n## Snapping\n"
    assert value(text, "widget palette", "snapping") == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "| | A | B |\n|---|---|---|\n| Price | $5 | $7 |\n| Weight | | |",
        "| Model | Price | Weight |\n|---|---|---|\n| A | $5 | |\n| B | $7 | n/a |",
    ],
)
def test_tables(text: str) -> None:
    assert value(text, "price", "weight", question="Compare the two lamps.") == 0.5


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "**Coop and run.** A roof over 0.4 m2 each.\n\n**Eggs.** About 300 in the first year.",
            1.0,
        ),
        ("**Coop.** A roof over 0.4 m2 each.\n\n**Eggs.**\n*(see the handbook)*", 0.5),
        ("一、鸡舍。每只0.4平方米，离地二十厘米。\n\n二、产蛋。头一年三百枚左右。", 1.0),
    ],
)
def test_titles_that_run_into_their_text(output: str, expected: float) -> None:
    assert value(output, "coop 鸡舍", "eggs 产蛋", question="Tell me about hens.") == expected


def test_negative_statement_covers() -> None:
    text = (
        "No jabs are demanded at the border, and nothing beyond your routine ones is recommended."
    )
    assert value(text, "vaccinations", question="I am off to Lisbon.") == 1.0


def test_refusal_with_an_answer_after_it() -> None:
    text = "The list price is confidential, but dealers ask about $900 for one."
    assert value(text, "price") == 1.0


@pytest.mark.parametrize(
    ("aspect", "output"),
    [
        ("refunds", "Refunds arrive within a month."),
        ("backups", "Backups run nightly."),
        ("maintenance", "Maintenance is due every year."),
        ("备份", "系统每周备份。"),
    ],
)
def test_how_often_or_how_soon_is_concrete(aspect: str, output: str) -> None:
    assert value(f"{PRICE} {output}", "pricing", aspect) == 1.0


@pytest.mark.parametrize(
    ("first", "second"), [("（1）", "（2）"), ("(1) ", "(2) "), ("①", "②"), ("1. ", "2. ")]
)
def test_items_by_any_number(first: str, second: str) -> None:
    """Two sentences of one item are about one thing."""
    output = (
        f"{first}缸要大一点，长度至少是龟背的五倍，再装一盏UVB灯。水温保持在25度。\n"
        f"{second}幼龟每天喂，成龟隔天喂，小鱼、虾干轮着来。不要喂肥肉。"
    )
    aspects = ("饲养环境", "喂食", "冬眠", "常见病")
    assert value(output, *aspects, question="说说养乌龟。") == 0.5


def test_thin_sentences_of_a_long_answer() -> None:
    """Two sentences that only praise do not make a list of names of the others."""
    output = (
        f"{PRICE} Support is friendly. {SECURITY} Training is simple. The roadmap brings calendars"
        " in May and shared folders in June. The office sits in Oslo with 40 people."
    )
    aspects = (*ASPECTS, "training", "roadmap", "company")
    assert judged(output, *aspects).value == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    "references",
    [
        "[1] https://www.sec.gov/x",
        "[1]: https://www.sec.gov/x",
        "[^1]: https://www.sec.gov/x",
        "Sources:\n1. Annual report on headcount. https://www.sec.gov/x",
        "## References\n- Smith, J. (2020). Headcount in small firms.\n- Doe, A. The dividend.",
        "References\n\n[1] Annual report 2023, SEC\n\n[2] Headcount survey, BLS",
        "参考资料：\n[1] 年报，https://www.sec.gov/x",
        "Source: SEC filing, https://www.sec.gov/x",
        "[1] Annual report. https://www.sec.gov/x\n\nI hope this helps.",
    ],
)
def test_references_state_nothing(references: str) -> None:
    said = ["Revenue grew 21% in 2023 [1].", "Headcount rose to 340 people [1]."]
    question = "Summarise the annual report."
    output = f"{' '.join(said)}\n\n{references}"
    signal = judged(output, "revenue", "headcount", question=question)
    assert (signal.value, [piece.text for piece in signal.evidence]) == (1.0, said)
    assert value(output, "revenue", "headcount", "dividend", question=question) == pytest.approx(
        2 / 3
    )
    assert value(f"{said[0]}\n\n{references}", "revenue", "headcount", question=question) == 0.5


def test_references_that_were_asked_for() -> None:
    said = "Revenue grew 21% in 2023 [1]. Headcount rose to 340 people [1]."
    entry = "[1] Annual report. https://www.sec.gov/x"
    question = "Summarise the annual report."
    aspects = ("revenue", "headcount")
    assert value(f"{said}\n\n{entry}", *aspects, "references", question=question) == 1.0
    assert value(f"{said}\n\nSources:\n{entry}", *aspects, "sources", question=question) == 1.0
    # Perhaps the sources of revenue are meant.
    assert judged(f"{said}\n\n{entry}", *aspects, "sources", question=question).level != "excellent"


@pytest.mark.parametrize(
    ("aspects", "output"),
    [
        # A heading of references over what are none, and an answer of nothing else.
        (["function", "food sources", "dosage"],
         ("Vitamin D keeps bones strong by holding calcium.\n\nSources\n- Oily fish, 10 micrograms"
          " a portion\n- Eggs\n\nDosage\n\nAdults take 15 micrograms a day.")),
        (["revenue", "headcount"],
         "[1] Revenue grew 21%, https://a.com/x\n[2] Headcount rose to 340, https://a.com/y"),
        (["revenue", "headcount"],
         "Findings:\n[1] Revenue grew 21%, https://a.com/x\n[2] Headcount is 340, https://a.com/y"),
        (["revenue", "contact"],
         ("Revenue grew 21% in 2023, to 4 million euros.\n\nLinks:\n- The press desk answers at"
          " https://a.com/help and +49 30 1234567.")),
    ],
)  # fmt: skip
def test_what_only_looks_like_references(aspects: list[str], output: str) -> None:
    assert value(output, *aspects, question="Tell me about vitamin D, or the report.") == 1.0


# What does not -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "output",
    [
        # only named, promised, refused, deflected
        "This overview covers pricing, support and security.",
        "I'll explain the pricing first, then support, and lastly the security. Stay tuned!",
        "Pricing, support and security will be covered in a later document.",
        "I cannot comment on pricing. No information on support. Security is confidential.",
        "For pricing, please contact our sales team. For support see the official website.",
        # empty headings and placeholders
        "## Pricing\n\n## Support\n\n## Security\n",
        "## Pricing\nTBD\n\n## Support\n(to be added)\n\n## Security\nN/A",
        "1. Pricing\n2. Support\n3. Security",
        "| Pricing | |\n|---|---|\n| Support | |\n| Security | - |",
        # stuffing, praise, tautology
        "pricing, price, low pricing, support, customer support, security, data security, secure",
        "The pricing is great. The support is excellent. The security is the best.",
        "The pricing is the pricing. Support means support. Security is about security.",
        # advice that fits anything
        (
            "Think about the pricing early. Support should never be an afterthought. Security"
            " must be handled properly by everyone involved."
        ),
        # announced or declined in other words
        (
            "The pricing is still being worked out. Support: to be agreed with the steering group."
            " As for security, my lips are sealed."
        ),
        # the question again
        f"{ASKED} Write an overview of Acme Mail? {ASKED}",
    ],
)
def test_attacks_earn_nothing(output: str) -> None:
    assert value(output, *ASPECTS) == 0.0


@pytest.mark.parametrize(
    "output",
    [
        "本文将从价格、售后和安全性三个方面展开。",
        "价格优惠，价格合理，价格透明；售后完善，售后贴心；安全性高，安全性好，安全性强。",
        "价格：暂无信息。\n售后：稍后为您详细介绍。\n安全性：这个问题不便评论。",
        "## 价格\n（此处补充）\n\n## 售后\n\n## 安全性\n待补充",
        "价格就是产品的价格；售后，即产品的售后；安全性，则是产品的安全性。",
        "关于价格，请咨询官方客服。售后以合同文本为准。安全性无法提供相关信息。",
        "价格要公开公道，让大家放心。售后是重中之重，来不得半点马虎。安全性必须常抓不懈。",
        "价格还在商量，过两天发给你。售后等上线了再细说。安全性先卖个关子。",
    ],
)
def test_attacks_in_chinese(output: str) -> None:
    assert value(output, "价格", "售后", "安全性", question="介绍一下你们的产品。") == 0.0


@pytest.mark.parametrize(
    "output",
    [
        "It would be inappropriate to speculate on support contracts with 14 partners in Asia.",
        "It is inappropriate for our staff to comment on support contracts with partners in Asia.",
        "We do not have permission to describe the support desk, its shifts or its 14 partners.",
    ],
)
def test_refusals(output: str) -> None:
    assert value(f"{PRICE} {output}", "pricing", "support") == 0.5


def test_what_is_inappropriate_may_be_the_answer() -> None:
    output = "Phone support is inappropriate for outages, so 14 engineers watch a chat all day."
    assert value(f"{PRICE} {output}", "pricing", "support") == 1.0


@pytest.mark.parametrize(
    "output",
    [
        "售后合同涉及多家合作伙伴的利益安排，还请谅解。",
        "售后团队40人的名单和工位安排会在董事会开会之后补充。",
        "售后团队40人的名单和工位安排由王经理另行汇报。",
    ],
)
def test_refusals_and_promises_in_chinese(output: str) -> None:
    price = "标准版每人每月30元，十人以上打八折。"
    assert value(price + output, "价格", "售后", question="介绍一下你们的产品。") == 0.5


@pytest.mark.parametrize(
    "closing",
    [
        "Good luck with the new mail system, and enjoy an empty inbox every morning.",
        "I hope the new mail system brings calm to all the people in your busy office.",
        "让我们一起把邮件带进每个家庭，带进每条街巷和每间教室。",
        "相信在大家的努力下，邮件会变成街坊最喜欢的东西。",
        "祝邮件系统越办越好，用户越来越多，街坊邻里都爱用。",
    ],
)
def test_a_wish_at_the_end_is_about_nothing(closing: str) -> None:
    assert value(f"{PRICE}\n\n{SUPPORT}\n\n{closing}", *ASPECTS) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("aspect", "output"),
    [
        ("history", "You can clear your browsing history in the settings of the program."),
        ("appeal", "Small claims courts appeal to tenants who have no lawyer."),
        ("support", "It supports IMAP and POP, and runs on any phone."),
        ("储存方法", "果实会把淀粉储存起来，成熟时再转化为糖，果农用这个方法判断采收。"),
    ],
)
def test_word_in_another_sense(aspect: str, output: str) -> None:
    assert value(f"{PRICE} {output}", "pricing", aspect) == 0.5


@pytest.mark.parametrize(
    ("question", "output"),
    [
        (
            "Tell me about the element mercury.",
            "Mercury is the smallest planet. Its density is 5.4.",
        ),
        ("介绍一下杜鹃这种鸟。", "杜鹃是一种常绿灌木，密度大，价格每株20元。"),
    ],
)
def test_another_thing_of_the_same_name(question: str, output: str) -> None:
    assert value(output, "density", "price", "密度", question=question) == 0.0


def test_off_topic() -> None:
    question = "What are the symptoms of gout, how is it diagnosed, and how is it treated?"
    output = "Prune apple trees in late winter. Use sharp secateurs and cut just above a bud."
    assert value(output, question=question) == 0.0


def test_padding_does_not_pay() -> None:
    """Sentences about nothing that was asked stand for half of the aspects at the very most."""
    padding = " ".join(
        f"The {bird} is a shy bird that nests in old {tree} trees."
        for bird, tree in (("wren", "oak"), ("rook", "elm"), ("tit", "ash"), ("finch", "fir"))
    )
    assert (value(f"{PRICE} {padding}", *ASPECTS, "history", "migration") or 0) <= 0.6
    assert value(padding, *ASPECTS, "history", "migration") == 0.0


@pytest.mark.parametrize(
    ("question", "aspects", "output", "expected"),
    [
        # A sentence for each, in words that no list has.
        ("What should I know before I keep hens?", ["housing", "feeding", "egg yield"],
         ("Allow 0.4 square metres under a roof for each bird and a perch. Layers get 120 grams of"
         " pellets, plus grit and fresh water. A hybrid gives about 300 in her first year."), 1.0),
        # A paragraph for each of the first two; the opening and the closing are about none.
        ("说说养乌龟。", ["饲养环境", "喂食", "冬眠", "常见病"],
         ("养乌龟不难，但要有耐心。\n\n缸要大一点，长度至少是龟背的五倍，再装一盏UVB灯。\n\n"
         "幼龟每天喂，成龟隔天喂，小鱼、虾干轮着来。\n\n总之，用心就能养好。"), 0.5),
        # Headings in other words, the last with nothing under it.
        ("写一份社区图书馆的改造建议。", ["空间布局", "藏书更新", "开放时间", "资金来源"],
         ("## 地方怎么摆\n一楼靠窗改成阅览区，儿童区挪到后院那间，书架降到一米五。\n\n"
         "## 书从哪来\n每年淘汰一成旧书，新书由居民扫码点选。\n\n"
         "## 几点开门\n工作日晚上延到九点，周一闭馆。\n\n## 钱从哪来\n"), 0.75),
        # Another field of life altogether.
        ("Describe the Maillard reaction.", ["chemistry", "temperature", "practical tips"],
         ("The stock market rallied on Tuesday. Technology shares led the gains of all funds."
         " Investors expect more volatility before the earnings season."), 0.0),
        # The name of each aspect again and again.
        ("怎么选婴儿车？", ["安全性", "重量"],
         "安全性一定要高，安全性好才放心，讲安全性。重量要合适，重量太重不好。", 0.0),
    ],
)  # fmt: skip
def test_build(question: str, aspects: list[str], output: str, expected: float) -> None:
    assert value(output, *aspects, question=question) == expected


def test_padding_is_never_good() -> None:
    padding = "The wren is a shy bird that nests in old oak trees."
    output = f"{PRICE} {padding} {padding} {padding}"
    assert judged(output, "pricing", "history", "staff", "roadmap").level in ("poor", "acceptable")


def test_repeating_does_not_pay() -> None:
    assert value(f"{PRICE}\n\n" * 50, *ASPECTS) == value(PRICE, *ASPECTS)


def test_what_stands_beyond_is_not_read() -> None:
    signal = judged(
        f"{PRICE} " * (READ // len(PRICE)) + "x " * 5000 + SECURITY, "security", "pricing"
    )
    assert signal.value == 0.5
    assert f"only the first {READ}" in signal.reason


@pytest.mark.parametrize(
    "piece",
    ["a", " ", "\n", "a\n", "|", "| a ", "# a\n", "1. ", "A b ", "**a", "` `", '"', "a: ",
     "价格，", "将在", "i will ", "information ", "contact ", "- a\n", "([", "Ab Ab ",
     "《", "mercury is a ", "[1] http\n", "[^1]: http\n\n", "Sources\n- www.\n", "请谅", "会在后",
     "A"],
)  # fmt: skip
def test_hostile_text_is_read_in_time(piece: str) -> None:
    text = piece * (READ // len(piece))
    started = time.process_time()
    judged(
        text, *ASPECTS, "contact person", "steps", "who built it", question="the element mercury"
    )
    judged("It is $5.", question=text)
    judged(text, question="Who built it, and when?")
    assert time.process_time() - started < 10


# The question ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is sous vide?", ["What is sous vide"]),
        ("What is X, how does it work, and when should I avoid it?",
         ["What is X", "how does it work", "when should I avoid it"]),
        ("Compare A and B on cost, speed and ease of use.", ["cost", "speed", "ease of use"]),
        ("Compare Redis and Memcached.", ["Redis", "Memcached"]),
        ("Describe the causes and effects of World War I.", ["causes", "effects"]),
        ("Explain supply and demand.", ["Explain supply and demand"]),
        ("I am 50. Tell me (a) how often to run, (b) what shoes to buy, and (c) what to eat.",
         ["how often to run", "what shoes to buy", "what to eat"]),
        ("Please answer:\n1) Who built it?\n2) When?", ["Who built it", "When"]),
        ("Tell me about:\n- price\n- support", ["price", "support"]),
        ("请介绍青蒿素的历史、用途和风险。", ["历史", "用途", "风险"]),
        ("比较小米和华为的价格和性能。", ["价格", "性能"]),
        ("从价格、性能、售后三个方面比较小米和华为。", ["价格", "性能", "售后"]),
        ("什么是居住权？怎样设立？", ["什么是居住权", "怎样设立"]),
        ("黑洞是怎么形成的，我们怎么观测到它？", ["黑洞是怎么形成的", "我们怎么观测到它"]),
        ("下个月去泰国，要准备什么？", ["下个月去泰国，要准备什么"]),
        ("Who built it, in what year, and by whom was it sold?",
         ["Who built it", "in what year", "by whom was it sold"]),
        ("Please cover: costs; timeline; risks.", ["costs", "timeline", "risks"]),
        ("解释什么是通货膨胀以及它对储蓄的影响。", ["解释什么是通货膨胀", "它对储蓄的影响"]),
        ("比较自驾和包车在费用、自由度和安全上的区别。", ["费用", "自由度", "安全"]),
        ("Give me the pros and cons of gas hobs and tell me which pans work.",
         ["pros", "cons", "which pans work"]),
    ],
)  # fmt: skip
def test_parts(question: str, expected: list[str]) -> None:
    assert [part.text for part in parts(question)] == expected


def test_question_of_messages() -> None:
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "well"},
        {"role": "user", "content": [{"type": "text", "text": "last?"}]},
        {"role": "assistant", "content": "hm"},
    ]
    assert question_of(messages) == "last?"
    assert question_of({"question": "this?"}) == "this?"


def test_derived_aspects() -> None:
    question = "What is a heat pump, how much does it cost, and does it work in winter?"
    text = "A heat pump moves heat from outside air into your house. Expect to pay 10,000 euros."
    signal = judged(text, question=question)
    assert signal.value == pytest.approx(2 / 3)
    assert "'does it work in winter'" in signal.reason
    assert value(f"{text} Yes, down to -20 °C.", question=question) == 1.0


def test_definition_without_is() -> None:
    assert (
        value("DNS maps names to addresses.", question="What is DNS and why does it fail?") == 0.5
    )


def test_numbered_answers() -> None:
    question = "1) Who commissioned it? 2) When? 3) Do visitors pay?"
    assert value("1) Justinian I\n2) In 537\n3) No", question=question) == 1.0
    assert value("1) Justinian I\n3) No", question=question) == pytest.approx(2 / 3)
    assert value("1) I do not know\n2) TBD\n3) No", question=question) == pytest.approx(1 / 3)
    question = "（1）谁建的？（2）哪年？（3）要门票吗？"
    assert (
        value("（1）查士丁尼一世下令修建。\n（2）537年完工。\n（3）不收。", question=question)
        == 1.0
    )
    assert value("①查士丁尼一世\n②537年\n③不收", question=question) == 1.0


def test_bare_answers() -> None:
    question = "《红楼梦》的作者是谁？成书于哪个朝代？主人公叫什么？"
    assert value("曹雪芹，清代，贾宝玉。", question=question) == 1.0
    assert value("78.4 °C", question="What is the boiling point of ethanol?") == 1.0
    assert value("The Eiffel Tower was painted brown.", question="How does a fridge work?") == 0.0


# The labelled set --------------------------------------------------------------------------------


def off_by(name: str) -> list[int]:
    """Levels between what the judge says and what the reader said, for each item of a file."""
    found = []
    for line in (LABELLED / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        case = Case(id=row["id"], input=row["input"], expected=row["expected"])
        (signal,) = asyncio.run(Completeness().judge(case, Trace(output=row["output"])))
        found.append(abs(ORDER.index(signal.level) - ORDER.index(row["level"])))
    return found


def test_worked() -> None:
    found = off_by("worked.jsonl")
    assert found.count(0) / len(found) >= 0.85
    assert sum(off > 1 for off in found) / len(found) <= 0.05


def test_picklable_and_fast() -> None:
    judge = pickle.loads(pickle.dumps(Completeness()))
    assert judge == Completeness()
    assert judge.names == ("completeness",)
    assert judge.runs == "inline"
    text = f"{PRICE} {SUPPORT} {SECURITY}\n\n" * 11
    case, trace = Case(input=ASKED, expected={"aspects": ASPECTS}), Trace(output=text[:2048])
    asyncio.run(judge.judge(case, trace))

    async def often() -> None:
        for _ in range(100):
            await judge.judge(case, trace)

    started = time.process_time()
    asyncio.run(often())
    assert time.process_time() - started < 2.0


def test_what_a_page_does_not_show_covers_nothing() -> None:
    assert value(f"<!-- {PRICE} --> {SUPPORT}", "pricing", "support") == 0.5
    assert value(f"~~{PRICE}~~ {SUPPORT}", "pricing", "support") == 0.5


def test_blank_lines_take_no_time() -> None:
    assert value("\n" * 100_000, question="Is it open?") == 0.0
    assert value("!\n" * 50_000, question="Is it open?") == 0.0
