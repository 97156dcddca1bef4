"""Addresses and numbers by kind: what is known, what only looks like it, and what depends."""

import pytest

from rubrica.judges.reliability import Lists, about, classify


def _each(text: str) -> list[str]:
    return text.split()


PRIMARY = _each("""
https://www.who.int/news/item/1 https://www.gov.uk/guidance/x https://www.gov.cn/zhengce/1.htm
https://www.stats.gov.cn/sj/1.html https://www.mhlw.go.jp/x https://www.legifrance.gouv.fr/loda/1
https://www.canada.ca/en/x https://www.statcan.gc.ca/x https://eur-lex.europa.eu/eli/reg/2016/679/oj
https://www.defense.mil/x https://www.boe.es/x https://www.gob.mx/salud https://www.rbnz.govt.nz/x
https://www.bankofengland.co.uk/x https://doi.org/10.1038/nm.2471 https://arxiv.org/pdf/1706.03762v5
https://pubmed.ncbi.nlm.nih.gov/12345678/ https://clinicaltrials.gov/study/NCT03574597
https://www.sec.gov/Archives/edgar/data/1/2.htm https://patents.google.com/patent/US1234567B2/en
https://www.rfc-editor.org/rfc/rfc9110 https://www.iso.org/standard/1.html https://docs.python.org/3/
https://github.com/python/cpython https://pypi.org/project/x/
https://www.tsinghua.edu.cn/info/1.htm https://www.ox.ac.uk/research https://web.mit.edu/x
https://kns.cnki.net/kcms/detail/1 https://www.court.gov.cn/x https://WWW.WHO.INT/X https://who.int./x
https://www.who.int:443/x www.who.int/x who.int/x https://web.archive.org/web/2020id_/https://who.int/a
doi:10.1109/CVPR.2016.90 arXiv:1706.03762 RFC_9110 PMID:12345678 NCT03574597 ISO/IEC_27001:2022
GB/T_7714-2015 17_CFR_240.10b-5 Regulation_(EU)_2016/679
""")
SECONDARY = _each("""
https://en.wikipedia.org/wiki/HTTP https://zh.wikipedia.org/wiki/故宫 https://baike.baidu.com/item/x/1
https://www.reuters.com/x https://www.xinhuanet.com/x http://paper.people.com.cn/x https://www.caixin.com/x
https://www.thepaper.cn/newsDetail_forward_1 https://36kr.com/p/1 https://stackoverflow.com/questions/1
https://www.nature.com/articles/d41586-024-00001-1 https://www.medrxiv.org/content/1
https://doi.org/10.1101/2020.03.22.20040758 https://www.webmd.com/x https://ocw.mit.edu/courses/1
https://github.com/python/cpython/issues/1
""")
UNRELIABLE = _each("""
https://docs.python.org.evil.example/3/ https://who.int.health-news.biz/x https://www.gov-stats.com/x
https://www.mohrss.gov.cn.tuixiu-zixun.com/x https://data.stats-gov.cn.com/x https://www.gov-cn.org.cc/x
https://evilwho.int.co/x https://notwho-int.com/x https://www.who.int@evil.com/x https://who.int%2eevil.com/x
https://whо.int/x https://xn--wh-fmc.int/x http://198.51.100.23:8080/x http://[::1]/x http://3221226219/x
http://localhost:3000/ https://example.com/a https://docs.example.org/a https://cs.example-college.edu/a
https://host.test/ https://host.invalid/ https://bit.ly/1 http://t.cn/1 https://medium.com/@a/b
https://x.substack.com/p/1 https://sites.google.com/view/x https://docs.google.com/document/d/1
https://www.zhihu.com/question/1 https://blog.csdn.net/a/article/details/1 https://www.jianshu.com/p/1
https://weibo.com/1/2 https://mp.weixin.qq.com/s/abc https://www.bilibili.com/video/1
https://www.reddit.com/r/x https://www.quora.com/x https://youtu.be/x https://www.pinterest.com/x
https://www.cs.cmu.edu/~joe/x.html https://people.csail.mit.edu/joe https://gist.github.com/a/1
https://github.com/5g-truth-cn/notes https://someone.github.io/blog https://academia.edu/1 https://vixra.org/1
https://www.google.com/search?q=x https://chatgpt.com/share/1
https://unknown-institute.org/x
https://web.archive.org/web/2020/https://reddit.com/r/x ftp://who.int/x
javascript:alert(1) data:text/html,x
https:// https://. //// not_an_address RFC_99999 RFC_0 arXiv:2413.00001 arXiv:0613.0001
doi:10.1234/abc doi:10.5555/12345678 doi:10.1016/j.xxx.2020.000 doi:10.21203/rs.3.rs-100956/v3
doi:10.1016/S0140-6736(97)11096-0 https://doi.org/not-a-doi
""")


@pytest.mark.parametrize("source", PRIMARY)
def test_primary(source: str) -> None:
    assert classify(source if "://" in source else source.replace("_", " ")).kind == "primary"


@pytest.mark.parametrize("source", SECONDARY)
def test_secondary(source: str) -> None:
    assert classify(source).kind == "secondary"


@pytest.mark.parametrize("source", UNRELIABLE)
def test_unreliable(source: str) -> None:
    assert classify(source.replace("RFC_", "RFC ")).kind == "unreliable"


def test_reasons_tell_what_was_seen() -> None:
    assert (
        "looks like who.int but belongs to evil.biz" in classify("https://who.int.evil.biz/").reason
    )
    assert "unknown host" in classify("https://nobody-knows-this.org/").reason
    assert classify("https://nobody-knows-this.org/").sure == "low"
    assert "hides its host" in classify("https://who.int@evil.biz/").reason


def test_a_maker_is_primary_for_its_deeds_and_no_witness_for_its_goods() -> None:
    release = "https://www.prnewswire.com/news-releases/x.html"
    deeds, praise = (
        about("How much revenue did Acmecorp report?"),
        about("Is the Acmecorp X3 a good one?"),
    )
    assert classify(release, deeds).kind == "primary"
    assert classify(release, praise).kind == "unreliable"
    assert classify("https://www.acmecorp.com/news", deeds).kind == "primary"
    assert classify("https://www.acmecorp.com/news", praise).kind == "unreliable"
    assert classify("https://docs.acmecorp.com/x3", praise).kind == "primary"
    assert classify("https://www.apple.com/newsroom/x", praise).kind == "unreliable"
    assert classify("https://investor.apple.com/x", praise).kind == "primary"


def test_a_name_in_a_host_is_not_the_bearer_of_the_name() -> None:
    asked = about("How does NVIDIA count revenue?")
    for host in (
        "nvidia-news.com",
        "realnvidia.com",
        "nvidia.biz",
        "nvidia.evil.com",
        "nvidia.top",
    ):
        assert classify(f"https://{host}/x", asked).kind == "unreliable", host
    assert classify("https://caffeine.com/x", about("Is caffeine addictive?")).kind == "unreliable"


def test_a_repository_of_the_project_that_is_asked_about() -> None:
    asked = about("How do I load Foozle models?")
    assert classify("https://github.com/foozle-ai/foozle", asked).kind == "primary"
    assert classify("https://foozle.github.io/docs", asked).kind == "primary"
    assert classify("https://github.com/foozle-ai/foozle/issues/3", asked).kind == "secondary"
    assert classify("https://github.com/stranger/foozle", asked).kind == "secondary"
    assert classify("https://github.com/stranger/foozle-notes", asked).kind == "unreliable"
    assert classify("https://github.com/pythonista/x", about("Python?")).kind == "unreliable"


def test_a_post_is_primary_where_it_is_what_is_asked_for() -> None:
    post = "https://x.com/someone/status/1"
    assert classify(post, about("What did she post on Twitter about it?")).kind == "primary"
    assert classify(post, about("What did she say about it?")).kind == "unreliable"
    assert classify(post, about("What did she say? Do not use Twitter.")).kind == "unreliable"
    assert classify("https://weibo.com/1/2", about("他在微博上怎么说的？")).kind == "primary"
    assert classify("https://weibo.com/1/2", about("他怎么说的？不要引用微博")).kind == "unreliable"


def test_a_manual_is_no_source_on_pregnancy() -> None:
    asked = about("How much caffeine is safe in pregnancy?")
    rated = classify("https://docs.python.org/3/", asked, "Up to 200 mg a day.")
    assert rated.kind == "unreliable"
    assert "off the topic" in rated.reason
    assert classify("RFC 2324", asked, "Up to 200 mg.").kind == "unreliable"
    assert classify("RFC 2324", about("What is HTTP status 418?")).kind == "primary"
    assert classify("https://docs.python.org/3/", about("Vue 怎么写指令？")).kind == "primary"


def test_the_answer_decides_only_where_it_must() -> None:
    asked = about("How much caffeine is safe in pregnancy?")
    manual = "https://docs.python.org/3/"
    said = ("Up to 200 mg a day.", "The Python library sums it up.", "Up to 200 mg a day.")
    kinds = [classify(manual, asked, answer).kind for answer in said]
    assert kinds == ["unreliable", "primary", "unreliable"]
    assert {classify("https://who.int/x", asked, answer).kind for answer in said} == {"primary"}
    docs, about_it = "https://zorbix.readthedocs.io/en/latest/", about("How do I parse it?")
    assert classify(docs, about_it, "Zorbix does.").kind == "primary"
    assert classify(docs, about_it, "Something does.").kind == "secondary"


def test_own_lists_win() -> None:
    lists = Lists(
        primary=("intranet.example", "*.corp.io", "https://www.reddit.com/r/ours/"),
        secondary=("medium.com/@team",),
        unreliable=("who.int", "10.1038/nm.2471"),
    )
    assert classify("https://www.reddit.com/r/ours/1", lists=lists).kind == "primary"
    assert classify("https://www.reddit.com/r/ourselves/1", lists=lists).kind == "unreliable"
    assert classify("https://wiki.corp.io/x", lists=lists).kind == "primary"
    assert classify("https://corp.io/x", lists=lists).kind == "unreliable"
    assert classify("https://corp.io.evil.com/x", lists=lists).kind == "unreliable"
    assert classify("https://medium.com/@team/post", lists=lists).kind == "secondary"
    assert classify("https://www.who.int/x", lists=lists).kind == "unreliable"
    assert classify("doi:10.1038/nm.2471", lists=lists).kind == "unreliable"
