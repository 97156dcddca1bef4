"""Whether a source says what it is cited for, and whether a quotation stands in it."""

import pytest

from rubrica.judges.citing.agreement import agree, taken_from
from rubrica.judges.citing.library import library
from rubrica.judges.citing.quotes import quotes, stands
from rubrica.judges.citing.sources import Source


def source(text: str, key: str = "1") -> Source:
    return Source(key, "", text, "", "", "", "", "case")


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        ("The tower is 330 m tall.", "It is 330 metres tall, a tower of iron.", "supported"),
        ("The tower is 300 m tall.", "The tower is 330 metres tall.", "unsupported"),
        ("It covers 1,650 square kilometres.", "Some 165,000 hectares.", "supported"),
        ("Nine in ten learned more.", "More was learned by 90%.", "supported"),
        ("大桥全长55公里。", "大桥全长五万五千米。", "supported"),
        ("销量为302万辆。", "销量为203万辆。", "unsupported"),
        ("Sales fell in Spain.", "Sales rose in Spain.", "unsupported"),
        ("The drug is safe.", "The drug is not safe.", "unsupported"),
        ("The drug is not safe.", "The drug is not safe.", "supported"),
        ("不推荐孕妇接种疫苗。", "推荐孕妇接种疫苗。", "unsupported"),
        ("隔夜水有毒。", "隔夜水没有毒。", "unsupported"),
        ("Bees make honey.", "Tax returns are due in May.", "unsupported"),
        ("It was designed by Smith.", "The hall was designed by Utzon.", "unsupported"),
        (
            "Rents rose by 4%, and new mines opened all over Africa.",
            "Rents rose by 4% in the city.",
            "partial",
        ),
        ("故宫占地72万平方米，每年接待游客三千万人次。", "故宫占地72万平方米。", "partial"),
        ("默认用 RDB 快照。", "By default Redis saves RDB snapshots.", "supported"),
    ],
)
def test_agree(claim: str, text: str, kind: str) -> None:
    only = source(text)
    assert agree(claim, only, library((only,))).kind == kind


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        ("Nets increase child mortality.", "Nets reduce child mortality.", "unsupported"),
        ("Nets lower child mortality.", "Nets reduce child mortality.", "supported"),
        ("Statins raise the risk of stroke.", "Statins lower the risk of stroke.", "unsupported"),
        ("Statins cut the risk of stroke.", "Statins lower the risk of stroke.", "supported"),
        ("该药提升中风风险。", "该药降低中风风险。", "unsupported"),
        ("该药减少中风风险。", "该药降低中风风险。", "supported"),
        # What gets better may fall.
        ("Running improves blood pressure.", "Running reduces blood pressure.", "supported"),
        ("跑步改善血压。", "跑步降低血压。", "supported"),
        # What another clause says is not denied by this one.
        (
            "The plan stresses the importance of reducing poverty.",
            "The plan stresses the importance of promoting growth, reducing poverty, and trade.",
            "supported",
        ),
        ("盐摄入减少，血压下降。", "盐摄入减少使血压下降，寿命提升。", "supported"),
        ("Sales fell 5.2%.", "Sales reached $4 million, up 5.2% on 2022.", "unsupported"),
        ("Sales rose 5.2%.", "Sales reached $4 million, up 5.2% on 2022.", "supported"),
        ("全年产值下降5.2%。", "全年产值1260582亿元，比上年增长5.2%。", "unsupported"),
        ("全年产值增长5.2%。", "全年产值1260582亿元，比上年增长5.2%。", "supported"),
        # A figure that two clauses tell says nothing of either.
        ("Sales fell 5%.", "Sales reached $4 million, costs up 5%, sales off 5%.", "supported"),
    ],
)
def test_rise_and_fall(claim: str, text: str, kind: str) -> None:
    only = source(text)
    assert agree(claim, only, library((only,))).kind == kind


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        ("成年人每天食盐不应超过5克。", "成年人每天食盐摄入量不超过5克。", "supported"),
        ("成年人每天食盐不得多于5克。", "成年人每天食盐摄入量不超过5克。", "supported"),
        ("成年人每天食盐至多5克。", "成年人每天食盐摄入量不超过5克。", "supported"),
        ("成年人每天食盐不少于5克。", "成年人每天食盐摄入量不超过5克。", "unsupported"),
        ("成年人每天食盐超过5克。", "成年人每天食盐摄入量不应超过5克。", "unsupported"),
        ("业绩没有超过预期。", "业绩超过预期。", "unsupported"),
        ("Eat under 5 g of salt a day.", "Eat no more than 5 g of salt a day.", "supported"),
        ("Salt must not exceed 5 g a day.", "Eat no more than 5 g of salt a day.", "supported"),
        ("Eat no less than 5 g of salt a day.", "Eat up to 5 g of salt a day.", "unsupported"),
        ("The load may not exceed 4 t.", "The load may exceed 4 t.", "unsupported"),
        ("The load did not exceed 4 t.", "The load exceeded 4 t.", "unsupported"),
    ],
)
def test_bounds(claim: str, text: str, kind: str) -> None:
    only = source(text)
    assert agree(claim, only, library((only,))).kind == kind


def test_a_bound_on_the_other_side_is_told() -> None:
    only = source("Eat up to 5 g of salt a day.")
    found = agree("Eat no less than 5 g of salt a day.", only, library((only,)))
    assert found.why == "the source has '5 g' as a bound on the other side"


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        ("An estimated 247 million fell ill.", "247 million fell ill.", "supported"),
        ("An estimated 250 million fell ill.", "247 million fell ill.", "supported"),
        ("About 300 million fell ill.", "An estimated 274 million fell ill.", "supported"),
        ("An estimated 274 million fell ill.", "An estimated 247 million fell ill.", "unsupported"),
        ("An estimated 260 million fell ill.", "247 million fell ill.", "unsupported"),
        ("274 million fell ill.", "About 300 million fell ill.", "unsupported"),
        ("The flight takes about 3 hours.", "The flight takes 2 hours 50 minutes.", "supported"),
        ("Malaria killed 619,000 people.", "Malaria caused 619 000 deaths.", "supported"),
        ("Malaria killed 691,000 people.", "Malaria caused 619 000 deaths.", "unsupported"),
        ("约四成人患病。", "37%的人患病。", "supported"),
        ("约274万人患病。", "约247万人患病。", "unsupported"),
        ("约250万人患病。", "约247万人患病。", "supported"),
    ],
)
def test_rough_figures(claim: str, text: str, kind: str) -> None:
    only = source(text)
    assert agree(claim, only, library((only,))).kind == kind


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        ("In 2021 there were 247 million cases.", "In 2021 there were 247 million.", "supported"),
        ("In 2022 there were 247 million cases.", "In 2021 there were 247 million.", "unsupported"),
        ("The 2022 report has 247 million cases.", "In 2021 there were 247 million.", "supported"),
        ("In 2022 it reported 247 million cases.", "In 2021 there were 247 million.", "supported"),
        ("In 2022 there were 247 million cases.", "There were 247 million cases.", "supported"),
        ("In 2022 a fire killed 12.", "A fire killed 12, the worst since 2015.", "supported"),
        ("2022年出生人口1062万人。", "2021年出生人口1062万人。", "unsupported"),
        ("2021年出生人口1062万人。", "2021年出生人口1062万人。", "supported"),
        ("2022年公布的出生人口为1062万人。", "2021年出生人口1062万人。", "supported"),
    ],
)
def test_the_year_of_a_title_is_not_that_of_its_figures(claim: str, text: str, kind: str) -> None:
    only = Source("1", "https://a.org/2022/b", text, "Cases: report 2022", "", "", "", "case")
    assert agree(claim, only, library((only,))).kind == kind


def test_another_source_was_meant() -> None:
    first = source("C919飞机座级158至192座，航程4075公里。", "1")
    second = source("ARJ21飞机座级78至97座，航程2225公里。", "2")
    assert agree("C919航程为4075公里", second, library((first, second))).kind == "unsupported"
    assert agree("C919航程为4075公里", first, library((first, second))).kind == "supported"


def test_taken_from() -> None:
    one = source("The water content of the body may fall to about 3 percent.")
    assert taken_from("Their water content can fall to about 3%.", library((one,))) == one
    assert taken_from("Their water content can fall to about 9%.", library((one,))) is None
    assert taken_from("I would ask a doctor about it.", library((one,))) is None


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ('It is "sound, dry and safe" today.', "It is sound, dry and safe.", "exact"),
        ("It is “sound, dry and safe”.", "It is sound; dry and safe.", "near"),
        ('It is "Sound, dry and safe".', "It is sound, dry and safe.", "near"),
        ('He said: "sound, dry and firm".', "It is sound, dry and safe.", "absent"),
        ('So "free of leaks … and fit".', "free of leaks, clean and fit", "exact"),
        ("称「风力强，雨量大，时间长」。", "风力强、雨量大、时间长。", "near"),
        ("称「风力强、雨量大、时间长」。", "风力强、雨量大、时间长。", "exact"),
        ("称「风力强、雨量小、时间长」。", "风力强、雨量大、时间长。", "absent"),
        ("写道：“最多丢失一秒的数据”。", "You may lose 1 second of data.", "unclear"),
    ],
)
def test_quotes(text: str, words: str, found: str) -> None:
    (quote,) = quotes(text)
    assert stands(quote, words) == found


def test_a_word_in_marks_is_no_quotation() -> None:
    assert quotes('由“濒危”降为“易危”，the "so-called" rule') == []
