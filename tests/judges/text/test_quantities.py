"""Quantities: how they are written, where they stand, and which of them agree."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrica.judges.text.quantities import Quantity, agrees, quantities


def one(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize(
    ("one_way", "other_way"),
    [
        ("12 km", "12,000 m"),
        ("619 000 deaths", "619,000 deaths"),
        ("619\u00a0123", "619,123"),
        ("1\u202f234\u202f567", "1,234,567"),
        ("1 234 567 people", "1,234,567 people"),
        ("about 12 300 people", "about 12,300 people"),
        ("$1 000", "$1,000"),
        ("USD 10 000", "$10,000"),
        ("a run of 10\u2009000 m", "10 km"),
        ("between 5 000 and 10 000 km", "between 5,000 and 10,000 km"),
        ("619 000例", "61.9万例"),
        ("CHF 1.84bn", "1.84 billion francs"),
        ("£85k", "a budget of 85,000 pounds"),
        ("-89.2℃", "零下89.2摄氏度"),
        ("-5℃", "零下5度"),
        ("上午十一点前", "11点之前"),
        ("晚上八点半", "20:30"),
        ("Lions 3–1", "3比1"),
        ("2小时35分钟", "155 minutes"),
        ("每小时能跑200公里", "时速200公里"),
        ("fell by a third.", "33%"),
        ("up by a quarter", "25%"),
        ("two thirds", "66.7%"),
        ("a quarter of an hour", "15 minutes"),
        ("620 gigawatt-hours", "620 GWh"),
        ("620 GWh a year", "620 GWh"),
        ("in '94", "1994"),
        ("the fourth century", "4th century"),
        ("beat Athletic 3-1 in front of all", "3比1"),
        ("每四个人里就有一个", "25%"),
        ("每月2块8", "2.8元"),
        ("票价两百块", "200元"),
        ("六月", "6月"),
        ("an award of 145,000 pounds", "£145,000"),
        ("1.5 km", "1500 metres"),
        ("18 months", "a year and a half"),
        ("18个月", "一年半"),
        ("14.5小时", "十四个半小时"),
        ("360 patients", "三百六十名患者"),
        ("8,400 replies", "8400 people"),
        ("74%", "74 percent"),
        ("20%", "两成"),
        ("12.5%", "百分之十二点五"),
        ("33%", "about a third of"),
        ("$640m", "640 million US dollars"),
        ("CAD 5 million", "5 million Canadian dollars"),
        ("£310 million", "310 million pounds"),
        ("EUR 480 million", "480 million euros"),
        ("4.6亿元", "46000万元"),
        ("2021-09-14", "2021年9月14日"),
        ("3 March 2021", "March 3rd, 2021"),
        ("March 2021", "2021-03-03"),
        ("Q3 2020", "2020年第三季度"),
        ("1969", "16 July 1969"),
        ("the 1990s", "1994"),
        ("about 657 metres", "some 660 m"),
        ("604.3 square kilometres", "a little over 600 km²"),
        ("3.29 million people", "3.3 million people"),
        ("4986.3亿元", "将近5000亿元"),
        ("28微克/立方米", "每立方米28微克"),
        ("1,025 kg", "1.025 metric tons"),
        ("46.07 g/mol", "46.07 g/mol"),
        ("−195.8 °C", "-195.8 degrees Celsius"),
        ("32 °F", "0 °C"),
        ("100公里/小时", "时速100公里"),
        ("from 23 to 29 March 2021", "23-29 March 2021"),
        ("100多个国家", "一百多个国家"),
        ("half a million", "500,000"),
        ("a dozen", "12"),
        ("twenty-one days", "3 weeks"),
        ("第四次", "the 4th"),
        ("2:30 pm", "14:30"),
        ("x = −5", "minus five"),
        ("-$50", "minus 50 dollars"),
        ("余额为-50元", "负50元"),
        ("a loss of $5 million", "net income of -$5 million"),
        ("fell by 5%", "-5%"),
        ("fell by -5%", "下降5%"),
        ("86 m below sea level", "an elevation of -86 m"),
        ("-10 to -5 °C", "between −10 and −5 °C"),
        ("1/2", "0.5"),
        ("-1/2", "-0.5"),
        ("1/2", "50%"),
        ("3 1/2 hours", "3.5 hours"),
        ("2/3 of them", "two thirds of them"),
        ("1e6", "1,000,000"),
        ("10^6", "one million"),
        ("1.5 × 10⁸ km", "150 million km"),
        ("2^10", "1024 items"),
        ("Python 3.10", "version 3.10"),
        ("Python 3.10", "3.10"),
        ("v3.10.4", "Python 3.10"),
        ("10.0.0.1", "10.0.0.1"),
        ("¥1,000", "1,000 yen"),
        ("￥1,000", "1000元"),
        ("¥1,000日元", "JPY 1000"),
        ("1.299,00 €", "€1,299"),
        ("€1.299,50", "1,299.50 euros"),
        ("12,50 €", "€12.50"),
        ("1.299.000", "1,299,000"),
        ("15.01.2024", "15 January 2024"),
        ("03/04/2021", "3 April 2021"),
        ("03/04/2021", "March 4, 2021"),
        ("03-04-2021", "04/03/2021"),
        ("9 micrograms per cubic metre", "9 µg/m³"),
        ("at least 5 kg", "no less than 5 kg"),
        ("at least 5 kg", "5 kg"),
        ("18岁以上", "at least 18 years"),
        ("不超过5天", "5天以内"),
        ("$12 a month", "$144 a year"),
        ("$5/mo", "a monthly fee of $5"),
        ("每月5元", "5元/月"),
        ("月薪8000元", "8000 yuan per month"),
        ("$5 a month", "$5"),
        ("twice a day", "14 times a week"),
        ("三次", "three times a day"),
    ],
)
def test_the_same_written_in_two_ways(one_way: str, other_way: str) -> None:
    assert agrees(one(one_way), one(other_way)) is True
    assert agrees(one(other_way), one(one_way)) is True


@pytest.mark.parametrize(
    ("one_way", "other_way"),
    [
        ("12 km", "12 miles"),
        ("21.5 kg", "21.5 pounds of rock"),
        ("4.5 billion dollars", "$4.5 million"),
        ("86亿元", "86万元"),
        ("38%", "83%"),
        ("4 May 2022", "5 April 2022"),
        ("1927", "1955"),
        ("55公里", "55英里"),
        ("8,400 people", "8,350 people"),
        ("30%", "28%"),
        ("5 tonnes a day", "5 tonnes a year"),
        ("620 GWh a year", "260 GWh"),
        ("10 dollars", "10 euros"),
        ("10 Canadian dollars", "10 Australian dollars"),
        ("five hours", "6 hours"),
        ("the first", "the second"),
        ("-5", "5"),
        ("-$50", "$50"),
        ("余额为-50元", "50元"),
        ("a change of -5%", "a change of 5%"),
        ("3/4", "4/3"),
        ("10^6", "10^9"),
        ("Python 3.10", "Python 3.1"),
        ("Python 3.10", "Python 3.11"),
        ("3.10.4", "3.10.5"),
        ("10.0.0.1", "10.0.0.2"),
        ("400-123-4567", "400-123-4568"),
        ("¥1,000", "$1,000"),
        ("15.01.2024", "16 January 2024"),
        ("03/04/2021", "5 March 2021"),
        ("at least 5 kg", "at most 5 kg"),
        ("x > 5", "x < 5"),
        ("before 5 May", "after 5 May"),
        ("until 6 pm", "from 6 pm"),
        ("满50元", "不满50元"),
        ("6点前", "6点后"),
        ("$5 a month", "$5 a year"),
        ("5% a year", "5% a month"),
        ("5,000 visitors a day", "5,000 visitors a year"),
        ("月薪8000元", "年薪8000元"),
        ("每天两次", "每周两次"),
        ("twice a day", "three times a day"),
    ],
)
def test_another_value(one_way: str, other_way: str) -> None:
    assert agrees(one(one_way), one(other_way)) is False


@pytest.mark.parametrize(
    ("one_way", "other_way"),
    [
        ("12 km", "12 kg"),
        ("5%", "5 people"),
        ("12 km", "1927"),
        ("3.10", "Python 3.1"),
        ("0.5", "5%"),
        ("twice a day", "3 tablets"),
        ("before 5 May", "after 2019"),
    ],
)
def test_what_cannot_be_compared(one_way: str, other_way: str) -> None:
    assert agrees(one(one_way), one(other_way)) is None


@pytest.mark.parametrize(
    "text",
    ["X-200", "A7", "PM2.5", "一些", "唯一", "you may march", "COVID-19", "Apollo 11 flew", ""],
)
def test_no_quantity(text: str) -> None:
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("text", "count"), [("5 to 4", 2), ("219 votes to 206", 2), ("5-9 days", 1)]
)
def test_scores_and_ranges(text: str, count: int) -> None:
    assert len(quantities(text)) == count


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2019-2021", [2021]),
        ("twelve-5", [12]),
        ("8-3=5", [8003, 5]),
        ("10 minus 5", [10, 5]),
        ("ten minus five", [10, 5]),
        ("pages 10 -15", [10]),
        ("球队3胜2负1平", [3, 2, 1]),
        ("背负30万元债务", [300_000]),
        ("第一组-5人", [1, 5]),
        ("open 24/7", [24, 7]),
        ("passed 3/4 tests", [3, 4]),
        ("scored 7/10", [7, 10]),
        ("rose to 1200²", [1200]),
        ("commit 77d9e20", [77]),
        ("[1/7] FROM node", [1, 7]),
        ("Android 2.5 billion", [2_500_000_000]),
        ("5 people a year ago", [5]),
        ("items 1,2 and 3", [1, 3]),
    ],
)
def test_signs_that_mean_something_else(text: str, values: list[float]) -> None:
    assert [found.value for found in quantities(text)] == values


@pytest.mark.parametrize(
    "text",
    [
        "230 °C for an hour",
        "80 percent in half an hour",
        "5 people a year ago",
        "You file quarterly, put 5 euros aside",
        "its annual report on 20 firms",
        "2003年前后",
        "sales rose over 2019",
        "about 5 kg",
        "三天前",
    ],
)
def test_neither_bound_nor_period(text: str) -> None:
    found = quantities(text)[0]
    assert (found.bound, found.per) == (0, 0.0)


@pytest.mark.parametrize("marks", ["[1]", " [12]", "[1][2]", "[1] [123]"])
@pytest.mark.parametrize("text", ["It cost 12 million euros.", "大桥全长930米。", "in 1998", "[3]"])
def test_the_marks_of_sources_change_nothing(text: str, marks: str) -> None:
    assert quantities(text + marks) == quantities(text)


def test_a_value_near_the_end_of_a_range() -> None:
    assert agrees(one("每千克体重0至40毫克"), one("每公斤体重不超过40毫克")) is True
    assert agrees(one("5 to 9 days"), one("12 days")) is False


@given(
    st.text(
        alphabet="0123456789.,-/^e% kmM$€¥年月日万亿一二三百半第每负满 aofhundred\n", max_size=80
    )
)
def test_places_are_inside_the_text(text: str) -> None:
    for found in quantities(text):
        assert 0 <= found.start < found.end <= len(text)
        assert agrees(found, found) is not False


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1,",
        "1.",
        "1-",
        "1 to ",
        "$",
        "一",
        "百分之",
        "每",
        "half a ",
        "twenty ",
        "1/1/",
        "-1 ",
        "1.000.",
        "10^",
        "1-1-",
        "minus 1 ",
        "twice a day ",
        "over $1 a day, ",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    quantities(text)
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "text", ["2023 年 10 月 2 日", "2023年10月2日", "于 2023 年 10 月 2 日成立", "2 October 2023"]
)
def test_chinese_dates_may_have_spaces(text: str) -> None:
    (found,) = quantities(text)
    assert found.date is not None
    assert found.date[:3] == (2023, 10, 2)


def test_a_span_with_a_space_stays_one() -> None:
    assert [one.kind for one in quantities("共 12 年，3 个月")] == ["measure", "measure"]


def test_a_power_may_end_a_sentence() -> None:
    assert [one.value for one in quantities("It is 6.02e23.")] == [6.02e23]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("In 2021 619 000 people died.", [2021, 619_000]),
        ("codes 404 500 503", [404, 500, 503]),
        ("the years 2019 2020 2021", [2019, 2020, 2021]),
        ("call 555 123 456", [555, 123, 456]),
        ("+44 20 123 456", [44, 20, 123, 456]),
        ("10 200 300", [10, 200, 300]),
        ("take 2 500 ml bottles", [2, 0.5]),
        ("Windows 10 500 users", [500]),
    ],
)
def test_a_space_sets_thousands_apart_or_numbers(text: str, values: list[float]) -> None:
    assert [found.value for found in quantities(text)] == values
