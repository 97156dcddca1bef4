"""Whether sentences state a claim, deny it, or say nothing of it; no labelled item is here."""

import time

import pytest

from rubrica.judges.text.passages import passages_of
from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import parts, verdict, verdicts


def kind(claim: str, text: str, question: str = "") -> str:
    return verdict(claim, sentences(text), question).kind


SUPPORTED = [
    ("比赛在广州举行。", "在广州进行的这场比赛中，蓝队以3比1战胜红队。", "比赛结果如何？"),
    (
        "The museum acquired the collection in 1987.",
        "The Rask family sold its collection to the museum in 1987.",
        "When did the museum acquire the Rask collection, and from whom?",
    ),
    (
        "事故原因是信号系统故障。",
        "调查显示，事故由信号设备失灵引起。事故未造成死亡，但有21人受伤。",
        "这次地铁事故的原因是什么？有没有人员伤亡？",
    ),
    (
        "乘组共三人。",
        "2022年3月4日，银河号在文昌发射升空，机组由三名航天员组成。",
        "银河号飞船的发射情况？",
    ),
    (
        "法院驳回了原告的诉讼请求。",
        "法院最终没有支持原告的诉讼请求，诉讼费用由原告负担。",
        "法院的最终判决是什么？",
    ),
    (
        "收购价为12亿元。",
        "海星物流被鸿远集团收购，作价十二亿元，交易已于2021年9月完成交割。",
        "鸿远集团和海星物流之间发生了什么？",
    ),
    (
        "营业收入为35.6亿元。",
        "青云公司2022年实现营收35.6亿元，净利润同比增长8%，研发费用占收入的比重达到12%。",
        "青云公司2022年业绩怎么样？",
    ),
    (
        "The crossing takes 90 minutes.",
        "The trip lasts an hour and a half. Adults pay £41 for a ticket.",
        "How long does the ferry from Aros to Bell take and what does it cost?",
    ),
    (
        "Mark Liu is the chief executive.",
        "Helen Ortiz set up Brightwater in her garage. These days the CEO is Mark Liu.",
        "Who founded Brightwater Ltd, and who runs it now?",
    ),
    (
        "任务带回1731克样品。",
        "12月1日，探测器在吕姆克山附近成功软着陆，2020年12月17日携带1.731千克月壤返回地球。",
        "月球探测任务的结果如何？",
    ),
    (
        "It has 54 floors.",
        "Rising 190 m, the Kalmar tower has fifty-four storeys. It was designed by Peter Lund.",
        "Tell me about the Kalmar tower: height, floors, architect.",
    ),
    ("导演是孔笙。", "该剧由孔笙执导，王凯主演，共54集。", "这部电视剧的导演和主演是谁？"),
    (
        "鸿远集团收购了海星物流。",
        "海星物流被鸿远集团收购，作价十二亿元，交易已于2021年9月完成交割。",
        "鸿远集团和海星物流之间发生了什么？",
    ),
    ("李白比杜甫年长。", "李白生于701年，杜甫生于712年，杜甫比李白年轻。", "李白和杜甫谁更年长？"),
    (
        "约2.3万名用户受到影响。",
        "数据库升级导致了这次故障，大约23000名用户受影响，整个过程持续了4个小时。",
        "故障是由什么引起的？影响了多少用户？持续多久？",
    ),
    (
        "The price was 2.3 billion euros.",
        "Orbis was acquired by Falcon for €2.3bn, subject to regulatory approval.",
        "Which company bought which in the Falcon and Orbis deal?",
    ),
    (
        "没有人员死亡。",
        "调查显示，事故由信号设备失灵引起。事故未造成死亡，但有21人受伤。",
        "这次地铁事故的原因是什么？有没有人员伤亡？",
    ),
    (
        "Merrow tablets must not be taken with alcohol.",
        "No, avoid drinking alcohol while you are on Merrow tablets.",
        "Can I take the Merrow tablets with alcohol?",
    ),
    (
        "The Kalmar tower is 190 metres tall.",
        "Rising 190 m, the Kalmar tower has fifty-four storeys. It was designed by Peter Lund.",
        "Tell me about the Kalmar tower: height, floors, architect.",
    ),
    (
        "博物馆周一闭馆。",
        "博物馆每周一不开放，其余时间上午9点到下午5点开门，成人门票80元。",
        "博物馆的开放时间和票价是什么？",
    ),
    (
        "《红楼梦》成书于清代。",
        "一般认为《红楼梦》由清代作家曹雪芹所著，后四十回由高鹗续写。",
        "《红楼梦》的作者是谁？成书于什么时候？",
    ),
    (
        "孕妇可以接种流感疫苗。",
        "可以，流感疫苗对孕妇是安全的，建议接种。",
        "孕妇可以打流感疫苗吗？",
    ),
    (
        "George Eliot wrote Middlemarch.",
        "The author of Middlemarch is George Eliot, the pen name of Mary Ann Evans.",
        "Who wrote Middlemarch?",
    ),
    (
        "《红楼梦》的作者是曹雪芹。",
        "一般认为《红楼梦》由清代作家曹雪芹所著，后四十回由高鹗续写。",
        "《红楼梦》的作者是谁？成书于什么时候？",
    ),
    (
        "公司有3000多名员工。",
        "陈默在2010年创办了这家公司，目前员工超过3000人。",
        "公司什么时候成立的？创始人是谁？有多少员工？",
    ),
    (
        "公司成立于2010年。",
        "陈默在2010年创办了这家公司，目前员工超过3000人。",
        "公司什么时候成立的？创始人是谁？有多少员工？",
    ),
    (
        "About two thirds of the water is used for farming.",
        "Roughly 67% of the Delph's water goes to agriculture.",
        "What share of the Delph river's water is used for farming?",
    ),
    (
        "The regulator blocked the merger.",
        "No. The regulator rejected the merger of Arvo and Teel on competition grounds.",
        "Was the merger of Arvo and Teel approved?",
    ),
    (
        "故障持续了40分钟。",
        "故障由机房断电引起，约23万名用户受到影响，持续40分钟后恢复。",
        "故障是由什么引起的？影响了多少用户？持续多久？",
    ),
    (
        "研发投入占营收的12%。",
        "青云公司2022年实现营收35.6亿元，净利润同比增长8%，研发费用占收入的比重达到12%。",
        "青云公司2022年业绩怎么样？",
    ),
    (
        "莲花峰海拔1864.8米。",
        "黄山坐落在安徽南部，莲花峰为其主峰和最高峰，高1864.8米。",
        "黄山位于哪里？最高峰是哪座，海拔多少？",
    ),
    ("中国最大的淡水湖是鄱阳湖。", "鄱阳湖是我国第一大淡水湖。", "中国最大的淡水湖是哪个？"),
    (
        "她于2015年获奖。",
        "2015年，屠呦呦凭借青蒿素的发现荣获诺贝尔生理学或医学奖。",
        "屠呦呦因什么获奖？哪一年？",
    ),
    (
        "创始人是陈默。",
        "陈默在2010年创办了这家公司，目前员工超过3000人。",
        "公司什么时候成立的？创始人是谁？有多少员工？",
    ),
    (
        "Parking is forbidden on Sundays.",
        "On Sundays nobody may park there.",
        "What are the parking rules?",
    ),
    (
        "Teachers may take phones away.",
        "A teacher is entitled to take the phone away.",
        "What does the rule say about phones?",
    ),
    (
        "Turnout was 58%.",
        "Fifty-eight per cent of those eligible took part.",
        "How did the vote on the stadium go?",
    ),
    (
        "The membership runs for twelve months.",
        "You sign up for a year at a time. A break of three months is possible.",
        "What are the terms of the membership?",
    ),
    ("景区内不能燃放烟花。", "景区里禁止放烟花爆竹。", "去景区要注意什么？"),
    (
        "Rent can be raised once a year.",
        "Increases are limited to one every twelve months.",
        "Rent?",
    ),
]
CONTRADICTED = [
    (
        "It was painted in 1937.",
        "Guernica was painted by Salvador Dalí in 1973 as a protest against war.",
        "Who painted Guernica and when, and where does it hang?",
    ),
    (
        "中国最大的淡水湖是鄱阳湖。",
        "中国最大的淡水湖是洞庭湖，位于湖南省北部。",
        "中国最大的淡水湖是哪个？",
    ),
    (
        "Tannberg has its headquarters in Oslo.",
        "Tannberg is led by chief executive Lena Frost. The company is headquartered in Bergen.",
        "Who is the CEO of Tannberg and where is its headquarters?",
    ),
    (
        "交易于2021年6月完成。",
        "海星物流被鸿远集团收购，作价十二亿元，交易已于2021年9月完成交割。",
        "鸿远集团和海星物流之间发生了什么？",
    ),
    (
        "故障由数据库升级引起。",
        "故障由机房断电引起，约23万名用户受到影响，持续40分钟后恢复。",
        "故障是由什么引起的？影响了多少用户？持续多久？",
    ),
    (
        "阿司匹林不能与布洛芬同时服用。",
        "阿司匹林可以与布洛芬同时服用，两者没有相互作用。",
        "阿司匹林可以和布洛芬一起吃吗？",
    ),
    (
        "Merrow tablets must not be taken with alcohol.",
        "Merrow tablets can safely be taken with alcohol.",
        "Can I take the Merrow tablets with alcohol?",
    ),
    (
        "净利润同比下降8%。",
        "青云公司2022年实现营收35.6亿元，净利润同比增长8%，研发费用占收入的比重达到12%。",
        "青云公司2022年业绩怎么样？",
    ),
    (
        "The 2008 Summer Olympics were held in Beijing.",
        "The 2008 Summer Olympics took place in Shanghai, China.",
        "Where were the 2008 Summer Olympics held?",
    ),
    (
        "失业率低于上年。",
        "2023年，该市城镇新增就业12.5万人，失业率4.8%，比上年有所上升。",
        "某市2023年的就业情况如何？",
    ),
    ("红队以3比1战胜蓝队。", "在广州进行的这场比赛中，蓝队以3比1战胜红队。", "比赛结果如何？"),
    (
        "没有人员死亡。",
        "事故造成3人死亡，目前仍在调查之中。",
        "这次地铁事故的原因是什么？有没有人员伤亡？",
    ),
    ("该药对儿童无效。", "研究显示该药对儿童有效。", "该药对儿童有效吗？"),
    (
        "The plant was closed for three weeks.",
        "There were no injuries. The site was closed for three months afterwards.",
        "What happened at the Orin chemical plant?",
    ),
    (
        "《红楼梦》的作者是曹雪芹。",
        "《红楼梦》的作者是吴承恩，成书于明代。",
        "《红楼梦》的作者是谁？成书于什么时候？",
    ),
    (
        "Falcon acquired Orbis.",
        "Falcon was bought by Orbis last spring for 2.3 million euros.",
        "Which company bought which in the Falcon and Orbis deal?",
    ),
    ("X1比X2重。", "X2比X1重，大约多出20克。", "云杉手机X1和X2哪个更重？"),
    (
        "The registration deadline is 30 June 2024.",
        "You have to sign up by 3 June 2024, and the entry fee is €45.",
        "What is the deadline and fee for the Tarn marathon?",
    ),
    (
        "故障持续了40分钟。",
        "数据库升级导致了这次故障，大约23000名用户受影响，整个过程持续了4个小时。",
        "故障是由什么引起的？影响了多少用户？持续多久？",
    ),
    ("她于2015年获奖。", "屠呦呦于2011年获奖，当时她已经81岁。", "屠呦呦因什么获奖？哪一年？"),
    (
        "World War II in Europe ended on 8 May 1945.",
        "World War II in Europe ended on 8 May 1946.",
        "When did WWII end in Europe?",
    ),
    (
        "成人票60元。",
        "博物馆每周一不开放，其余时间上午9点到下午5点开门，成人门票80元。",
        "博物馆的开放时间和票价是什么？",
    ),
    ("张衡发明了地动仪。", "地动仪是宋代的沈括发明的。", "张衡发明了什么？"),
    ("Mars has two moons.", "Mars has four moons.", "How many moons does Mars have?"),
    (
        "Python's sort is stable.",
        "Python's sort is not stable: equal elements may be reordered.",
        "Is Python's sort stable and what is its complexity?",
    ),
    (
        "最高峰是莲花峰。",
        "黄山位于江西省，最高峰是光明顶，景色十分壮观。",
        "黄山位于哪里？最高峰是哪座，海拔多少？",
    ),
    (
        "约2.3万名用户受到影响。",
        "故障由机房断电引起，约23万名用户受到影响，持续40分钟后恢复。",
        "故障是由什么引起的？影响了多少用户？持续多久？",
    ),
    (
        "Lake Orin is larger than Lake Tamm.",
        "Lake Tamm is larger than Lake Orin by about 30 square kilometres.",
        "Which is larger, Lake Orin or Lake Tamm?",
    ),
    (
        "302 means a temporary redirect.",
        "- 301: the resource has moved temporarily\n- 302: a permanent redirect",
        "Explain what HTTP 301 and 302 mean.",
    ),
    (
        "301 means the resource has moved permanently.",
        "- 301: the resource has moved temporarily\n- 302: a permanent redirect",
        "Explain what HTTP 301 and 302 mean.",
    ),
    ("珠穆朗玛峰海拔8848.86米。", "珠穆朗玛峰的海拔高度为8484.86米。", "珠穆朗玛峰有多高？"),
    (
        "The price was 2.3 billion euros.",
        "Falcon was bought by Orbis last spring for 2.3 million euros.",
        "Which company bought which in the Falcon and Orbis deal?",
    ),
    (
        "Lorries are not allowed on the Kestrel bridge.",
        "Yes, lorries are allowed on the Kestrel bridge as long as they weigh under 40 tonnes.",
        "Is the Kestrel bridge open to lorries?",
    ),
    ("主演是胡歌。", "该剧由孔笙执导，王凯主演，共54集。", "这部电视剧的导演和主演是谁？"),
    (
        "Parking is forbidden on Sundays.",
        "On Sundays you may park there.",
        "What are the parking rules?",
    ),
    (
        "Visitor numbers rose by 8%.",
        "Eight per cent fewer people came through the doors.",
        "How did visitor numbers develop?",
    ),
    (
        "Rovers beat Athletic 3-1.",
        "Athletic came out on top, beating Rovers 3-1 in front of a crowd of 41,000.",
        "How did the final between Rovers and Athletic end?",
    ),
    (
        "Seven of them were gold.",
        "Of the sixteen, four were gold, seven silver and five bronze.",
        "How many medals did Norland win?",
    ),
    (
        "The judgment was given by Mr Justice Kerr.",
        "The judgment was given by Mr Justice Lyle.",
        "Who decided the case?",
    ),
    ("房间隔音差。", "房间隔音很好。", "酒店怎么样？"),
    ("Plus allows five users.", "| Users | 1 | 4 |", "Compare the subscriptions Basic and Plus."),
]
ABSENT = [
    (
        "学生半价。",
        "博物馆每周一不开放，其余时间上午9点到下午5点开门，成人门票80元。",
        "博物馆的开放时间和票价是什么？",
    ),
    (
        "A valve failed.",
        "There were no injuries. The site was closed for three months afterwards.",
        "What happened at the Orin chemical plant?",
    ),
    (
        "事故原因是信号系统故障。",
        "事故造成3人死亡，目前仍在调查之中。",
        "这次地铁事故的原因是什么？有没有人员伤亡？",
    ),
    (
        "Kerr has to pay 40,000 dollars in damages.",
        "The court found for Kerr and dismissed all of Doyle's claims.",
        "What did the court decide in Doyle v. Kerr?",
    ),
    ("会议在成都召开。", "会议将于下月召开，届时会有五百名代表参加。", "会议在哪里召开？"),
    ("会议在成都召开。", "会议可能在成都召开，但尚未最终确定。", "会议在哪里召开？"),
    (
        "有12人受伤。",
        "事故造成3人死亡，目前仍在调查之中。",
        "这次地铁事故的原因是什么？有没有人员伤亡？",
    ),
    (
        "The Atlas 3 supports double-sided printing.",
        "The Atlas 3 is a laser printer that prints 30 pages a minute and weighs 9 kg.",
        "Does the Atlas 3 printer support double-sided printing?",
    ),
    (
        "Its worst-case time complexity is O(n log n).",
        "Python's sort is not stable: equal elements may be reordered.",
        "Is Python's sort stable and what is its complexity?",
    ),
    (
        "违反者最高罚款5万元。",
        "新规于2023-05-01生效，各地应做好宣传工作。",
        "新规从什么时候开始实施？违反会怎样？",
    ),
    (
        "It hangs in the Reina Sofía museum in Madrid.",
        "Guernica was painted by Salvador Dalí in 1973 as a protest against war.",
        "Who painted Guernica and when, and where does it hang?",
    ),
    (
        "屠呦呦因发现青蒿素获得诺贝尔奖。",
        "屠呦呦于2011年获奖，当时她已经81岁。",
        "屠呦呦因什么获奖？哪一年？",
    ),
]


@pytest.mark.parametrize(("claim", "text", "question"), SUPPORTED)
def test_supported(claim: str, text: str, question: str) -> None:
    assert kind(claim, text, question) == "supported"


@pytest.mark.parametrize(("claim", "text", "question"), CONTRADICTED)
def test_contradicted(claim: str, text: str, question: str) -> None:
    assert kind(claim, text, question) == "contradicted"


@pytest.mark.parametrize(("claim", "text", "question"), ABSENT)
def test_absent(claim: str, text: str, question: str) -> None:
    assert kind(claim, text, question) == "absent"


def test_truth_beside_its_opposite_contradicts() -> None:
    text = "The valve is open. Later the log says that the valve is not open."
    assert kind("The valve is open.", text) == "contradicted"


@pytest.mark.parametrize(
    ("claim", "text", "question", "found"),
    [
        ("Parking is allowed.", "Yes.", "Is parking allowed?", "supported"),
        ("Parking is not allowed.", "Yes, of course.", "Is parking allowed?", "contradicted"),
        ("Parking is not allowed.", "No.", "Is parking allowed?", "supported"),
        ("Entry costs 5 euros.", "Yes.", "Is parking allowed?", "absent"),
        # No yes outweighs the denial that follows it.
        (
            "Parking is allowed.",
            "Yes. Parking is forbidden.",
            "Is parking allowed?",
            "contradicted",
        ),
        ("这里不可以停车。", "可以。", "可以停车吗？", "contradicted"),
    ],
)
def test_yes_or_no_answers_the_question(claim: str, text: str, question: str, found: str) -> None:
    (one,) = verdicts([claim], sentences(text), question)
    assert one.kind == found


def test_a_hedge_is_no_statement() -> None:
    assert kind("The valve failed.", "The valve may have failed.") == "absent"
    assert kind("The valve may have failed.", "Perhaps the valve failed.") == "supported"
    assert kind("The valve may have failed.", "The valve definitely failed.") == "contradicted"


def test_a_denied_whole_contradicts() -> None:
    for text in (
        "It is not true that Rome is the capital of Italy.",
        "It is false that Rome is the capital of Italy.",
        "说罗马是意大利的首都是错误的。",
    ):
        claim = "Rome is the capital of Italy." if text.isascii() else "罗马是意大利的首都。"
        assert kind(claim, text) == "contradicted", text


def test_a_claim_of_two_clauses_may_be_stated_in_two_sentences() -> None:
    claim = "The bridge opened in 2017, and it cost 45 million dollars."
    assert len(parts(claim)) == 2
    assert kind(claim, "The bridge cost $45m. It was opened in 2017.") == "supported"
    assert kind(claim, "The bridge was opened in 2017.") == "absent"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The plant has 12 turbines. It employs 300 workers.", "supported"),
        ("The plant has 12 turbines. It employs 400 workers.", "contradicted"),
        ("The plant has 15 turbines. It employs 300 workers.", "contradicted"),
        ("The plant has 12 workers. It has 300 turbines.", "contradicted"),
        ("The plant has 12 turbines.", "absent"),
        ("The plant has 12 turbines. How many are the 300 workers?", "absent"),
    ],
)
def test_figures_may_be_shared_out_over_two_sentences(text: str, found: str) -> None:
    claim, question = "The plant has 12 turbines and 300 workers.", "How big is the plant?"
    assert kind(claim, text, question) == found


@pytest.mark.parametrize(
    ("claim", "text", "found"),
    [
        ("It is a Boeing 747.", "It is a Boeing 777.", "contradicted"),
        ("It is a Boeing 747.", "It is a Boeing 747.", "supported"),
        ("It is a Boeing 747.", "It has 747 seats.", "absent"),
        ("It runs on Windows 11.", "It runs on Windows 10 only.", "contradicted"),
        (
            "Windows 11 has 500 million users.",
            "Windows 10 has 500 million users.",
            "contradicted",
        ),
        ("The rule is in Article 5.", "The rule stands in Article 6.", "contradicted"),
        ("It was trained on an NVIDIA A100.", "It was trained on an NVIDIA A10.", "contradicted"),
        ("It was trained on an NVIDIA A100.", "It was trained on A100 GPUs.", "supported"),
        ("The cheapest is the iPhone 14.", "The cheapest is the iPhone 15.", "contradicted"),
        ("手机采用骁龙8 Gen 2处理器。", "手机采用骁龙8 Gen 3处理器。", "contradicted"),
        ("手机采用骁龙8 Gen 2处理器。", "手机采用骁龙8 Gen 2处理器。", "supported"),
        ("疫苗需要接种三针。", "疫苗需要接种两针。", "contradicted"),
        ("疫苗需要接种三针。", "疫苗需要接种3针。", "supported"),
        ("git reset --soft keeps it.", "Run `git reset --hard`: it keeps it.", "contradicted"),
        ("git reset --soft keeps it.", "Run `git reset --soft`, not `--hard`.", "supported"),
        (
            "Apollo 11 landed on the Moon in 1969.",
            "Apollo 8 flew around it, and Apollo 11 landed on the Moon in 1969.",
            "supported",
        ),
        ("There are 300 workers in Lyon.", "In Lyon 300 workers are employed.", "supported"),
        ("There are 300 workers in Lyon.", "In Lyon 400 workers are employed.", "contradicted"),
        ("It needs half a cup of sugar.", "Add 0.5 cups of sugar.", "supported"),
        ("It needs half a cup of sugar.", "Add one cup of sugar.", "contradicted"),
        ("It needs two tablespoons of oil.", "Add 2 tbsp of oil.", "supported"),
    ],
)
def test_numbers_behind_a_name_and_in_the_kitchen(claim: str, text: str, found: str) -> None:
    assert kind(claim, text, "What is it?") == found


@pytest.mark.parametrize(
    ("claim", "right", "wrong"),
    [
        (
            "Anna has 5 apples and Ben has 7 apples.",
            "Anna has 5 apples. Ben has 7 apples.",
            "Anna has 7 apples. Ben has 5 apples.",
        ),
        (
            "Anna ate 5 apples and Ben bought 7 apples.",
            "Ben bought 7 apples. Anna ate 5 apples.",
            "Ben bought 5 apples. Anna ate 7 apples.",
        ),
        (
            "Plan A costs $5 and plan B costs $9.",
            "- Plan A: $5\n- Plan B: $9",
            "- Plan A: $9\n- Plan B: $5",
        ),
        (
            "Exports rose 12% while imports fell 4%.",
            "Exports rose by 12%. Imports fell by 4%.",
            "Imports rose by 12%. Exports fell by 4%.",
        ),
        (
            "甲方案每月5元，而乙方案每月9元。",
            "甲方案每月5元。乙方案每月9元。",
            "甲方案每月9元。乙方案每月5元。",
        ),
    ],
)
def test_two_of_a_kind_in_one_claim(claim: str, right: str, wrong: str) -> None:
    assert kind(claim, right, "Who has what?") == "supported"
    assert kind(claim, wrong, "Who has what?") == "contradicted"


def test_shared_out_in_chinese() -> None:
    claim, question = "该厂有12台机组和300名工人。", "介绍一下工厂"
    assert kind(claim, "该厂有12台机组。另有300名工人。", question) == "supported"
    assert kind(claim, "该厂有12台机组。另有350名工人。", question) == "contradicted"


def test_a_question_states_nothing() -> None:
    assert kind("Rome is the capital of Italy.", "Is Rome the capital of Italy?") == "absent"
    text = "You are asking whether Rome is the capital of Italy."
    assert kind("Rome is the capital of Italy.", text) == "absent"


def test_a_heap_of_words_states_nothing() -> None:
    heap = "rome capital italy city rome capital italy tiber forum colosseum empire lazio senate"
    assert kind("Rome is the capital of Italy.", heap) == "absent"


def test_where_it_was_found() -> None:
    text = "Nothing here. Rome is the capital of Italy."
    found = verdict("Rome is the capital of Italy.", sentences(text))
    assert (found.index, text[found.start : found.end]) == (1, "Rome is the capital of Italy.")
    assert found.sure == "high"
    assert verdict("Rome fell.", []).index == -1


def test_thinking_is_left_out_and_places_stay() -> None:
    text = "<think>Rome. It is.</think>Paris is it. <think>never closed"
    (one,) = passages_of(text)
    assert text[one.start : one.end] == one.text == "Paris is it."
    assert [p.text for p in passages_of("a b.</think> c d.")] == ["c d."]
    assert len(passages_of(text, think="keep")) == 3


def test_a_long_sentence_is_cut() -> None:
    text = "word, " * 500
    found = passages_of(text)
    assert all(len(one.text) <= 320 and text[one.start : one.end] == one.text for one in found)
    assert found[-1].end == len(text.rstrip())
    assert len(passages_of("x" * 1000)) == 4


@pytest.mark.parametrize(
    "piece", ["not ", "a-", "(", "1 km ", "or ", "一", "由", "by Al ", "</think>"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    verdict("Al Gore did not buy 12 km by 一", passages_of(text), "who?")
    assert time.process_time() - start < 20
