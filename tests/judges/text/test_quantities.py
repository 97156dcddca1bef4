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
        ("CHF 1.84bn", "1.84 billion francs"),
        ("£85k", "a budget of 85,000 pounds"),
        ("-89.2℃", "零下89.2摄氏度"),
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
    ],
)
def test_another_value(one_way: str, other_way: str) -> None:
    assert agrees(one(one_way), one(other_way)) is False


@pytest.mark.parametrize(
    ("one_way", "other_way"), [("12 km", "12 kg"), ("5%", "5 people"), ("12 km", "1927")]
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


@pytest.mark.parametrize("marks", ["[1]", " [12]", "[1][2]", "[1] [123]"])
@pytest.mark.parametrize("text", ["It cost 12 million euros.", "大桥全长930米。", "in 1998", "[3]"])
def test_the_marks_of_sources_change_nothing(text: str, marks: str) -> None:
    assert quantities(text + marks) == quantities(text)


def test_a_value_near_the_end_of_a_range() -> None:
    assert agrees(one("每千克体重0至40毫克"), one("每公斤体重不超过40毫克")) is True
    assert agrees(one("5 to 9 days"), one("12 days")) is False


@given(st.text(alphabet="0123456789.,-/% kmM$€年月日万亿一二三百半第每 aofhundred\n", max_size=80))
def test_places_are_inside_the_text(text: str) -> None:
    for found in quantities(text):
        assert 0 <= found.start < found.end <= len(text)
        assert agrees(found, found) is not False


@pytest.mark.parametrize(
    "piece",
    ["1", "1,", "1.", "1-", "1 to ", "$", "一", "百分之", "每", "half a ", "twenty ", "1/1/"],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    quantities(text)
    assert time.process_time() - start < 20
