"""What a report of a failure looks like, in English and Chinese. Each line of a list is a pattern.

Every repetition has a bound or is followed by a character that it cannot match, so that `re` is
linear in the line. `google-re2` is used for the first look, where it is installed.
"""

import importlib
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

Kind = Literal["error", "exit", "fields", "exception", "shell", "compiler", "http", "tests", "said"]

#: How a line begins that reports a failure. Case matters: `ERROR x` is a log, `Error x` a title.
LINES: Mapping[Kind, str] = {
    "exception": r"""
        Traceback \(most recent call last\)
        [\w.$]{0,120}(?:Error|Exception)(?: \[\w{1,40}\])?: ?\S
        [\w.$]{2,120}(?:Error|Exception)$
        (?:Uncaught|Unhandled) (?:\w{1,40}(?:Error|Exception)|exception|error|rejection|\(in)
        panic: |Exception in thread|thread '[^']{1,80}' panicked
        (?:zsh: )?(?:Segmentation fault|Bus error|[Aa]borted|[Kk]illed|段错误)(?:  | ?\(|$)""",
    "error": r"""
        (?i:(?:[\w./-]{1,40}: )?(?:[a-z]{4,9} )?(?:error|fatal|failure|failed)[:：] ?(?!0|none)\S)
        (?i:error(?:\[\w{1,20}\]|\(\w{1,20}\)| [a-z]{0,6}\d{1,6}(?: \(\w{1,20}\))?): ?\S)
        (?i:an? (?:[a-z]{4,12} )?error (?:has )?occurred|error (?:executing|calling|running) )
        (?:ERROR|FATAL|CRITICAL)[\]|>]?[ \t:-]{1,4}\S
        (?i:[\[(<](?:error|fatal|failed|tool_use_error|tool_error|错误)[\])>])
        npm ERR!|E: Unable|MCP error -?\d
        CONFLICT \(|Automatic merge failed|! \[(?:remote )?rejected\]
        (?:致命)?(?:错误|异常|报错|出错|失败)[:：]
        (?:工具|命令)?(?:调用|执行|请求|操作)(?:失败|出错|异常|超时)""",
    "shell": r"""
        (?i:[\w./-]{1,60}: (?:[^:\n]{1,150}: ){0,3}(?:permission denied|connection refused))
        (?i:[\w./-]{1,60}: (?:[^:\n]{1,150}: ){0,3}(?:(?:command )?not found|no such file))
        (?i:[\w./-]{1,60}: (?:cannot|can't|could not|unable to) [a-z]{3,9}\b)
        (?:No such file or directory|Permission denied|Access (?:is )?denied)(?:[.:]|$)
        '[^']{1,60}' is not recognized as|curl: \(\d{1,3}\)|make(?:\[\d{1,3}\])?: \*\*\*
        (?:bash: )?(?:[\w./-]{1,60}[:：] ?)?(?:未找到命令|没有那个文件或目录|拒绝访问|权限不够)""",
    "compiler": r"""
        \S{1,150}[:(]\d{1,6}(?:[:,]\d{1,6})?\)?:? (?:- )?(?:fatal |syntax )?error\b
        \S{1,150}\.\w{1,5}:\d{1,6}:\d{1,6}: (?:undefined|cannot|syntax error)\b
        undefined reference to|BUILD FAIL(?:ED|URE)""",
    "http": r"""
        (?:[<*] )?HTTP(?:/[\d.]{1,3})? (?:[Ee]rror )?[45]\d\d\b
        4\d\d (?:Unauthorized|Forbidden|Not Found|Too Many Requests)(?:[.:]| for |$)
        5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable)(?:[.:]| for |$)""",
    "tests": r"""
        (?:FAILED|FAIL|--- FAIL:?) \S|not ok \d|=+ (?:FAILURES|ERRORS) =+
        =*\s{0,9}(?:Tests?: {1,9})?[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?|errors?)\b
        (?:Found |✖ )[1-9]\d{0,5} (?:errors?|problems?)\b""",
}
#: What reports a failure anywhere in a sentence.
SAID = r"""
    \b(?:failed|failures|errors|unreachable)(?:=|: ?)[1-9]
    \b[1-9]\d{0,5} (?:of \d{1,6} )?(?:tests? )?(?:have |are |still )?fail(?:ed|ing)?\b(?! jobs)
    \b(?:exit(?:ed|s)?(?: with)?(?: code| status)?|with status|rc)(?: |: ?|=)[1-9]\d{0,2}\b
    \b(?:returned|responded with|status code)(?: an?)?(?: HTTP| error)? [45]\d\d\b
    \b(?:build|tests?|deployment|command|request|job|push|merge|step|check) (?:has )?failed\b
    \b(?:download|upload|query|login|migration|installation|connection|call) (?:has )?failed\b
    \b(?:build|tests?|command|request|job|step|check) (?:still )?(?:fails?|crash(?:ed|es))\b
    \b(?:command|request|download|migration|push|job) (?:was )?(?:timed out|rejected|aborted)\b
    \b(?:I|we) (?:could not|couldn't|was unable to|failed to) (?:run|open|load|find|access|reach)\b
    \b(?:I|we) (?:could not|couldn't|was unable to|failed to) (?:install|connect|complete|build)\b
    \bcould not be (?:loaded|reached|found|opened|completed|installed)\b
    \b(?:connection refused|permission denied|no route to host|no space left on device)\b
    \b(?:did not succeed|rate limit (?:exceeded|reached)|exceeded your \w{1,20} ?quota)\b
    (?:构建|编译|测试|部署|安装|下载|连接|运行|登录|查询|执行)(?:都|已|又|仍)?(?:失败|出错|超时|报错)
    (?:失败|错误|未通过)[:：]? ?[1-9]\d{0,5}(?: ?[个项条处]|$)
    [1-9]\d{0,5} ?[个项条处](?:测试)?(?:失败|错误)
    返回 ?[45]\d\d|请求被拒绝|没有权限"""
#: A sentence about failures in general, or about what would be one.
GENERAL = r"""
    \b(?:if|when|whenever|unless|would|may|might|should|means?|usually|raises?|returns)\b
    \b(?:how|why|which|what|tests? for|an? failed|avoid|prevent)\b
    [?？]|如果|表示|意味|是指|通常|可以|会|时返回|的用户|覆盖|通过$"""
#: A line that ends well: what failed was put right.
MENDED = r"""
    \b(?:fixed|corrected|passes|now pass|succeeded|green|no longer|retried)\b|修复|已解决"""
#: A program's message, explained: `HTTP 404 is "Not Found"`.
DEFINED = r"""
    \b(?:means?|stands for|usually|comes from|is (?:an?|the|raised|printed|"))|表示|是指"""
#: A part of each pattern above, in lower case. Most texts have none, and need no other look.
STEMS = r"""
    err|fail|exception|traceback|panic|fault|abort|killed|fatal|critical|denied|refused|reject
    not found|no such|not ok|recognized|cannot|can't|could|unable|undefined|exit|rc=|http|status
    timed out|crash|unreach|limit|quota|returned|respond|no route|no space|unauthorized|forbidden
    too many|gateway|unavailable|not succeed|conflict|curl|make|false|cancelled|错|败|异常|超时|未
    没有|拒绝|权限|返回|✖"""


class Patterns(NamedTuple):
    """The patterns above, compiled. A match of `lines` has the kind as its last group."""

    lines: re.Pattern[str]
    said: re.Pattern[str]
    general: re.Pattern[str]
    mended: re.Pattern[str]
    defined: re.Pattern[str]


@cache
def compile_patterns() -> Patterns:
    """Compile with the first text that needs it: most logs of calls have none."""
    kinds = "|".join(f"(?P<{kind}>{_join(lines)})" for kind, lines in LINES.items())
    others = (re.compile(_join(lines), re.IGNORECASE) for lines in (SAID, GENERAL, MENDED, DEFINED))
    return Patterns(re.compile(kinds), *others)


@cache
def split_stems() -> tuple[str, ...]:
    """Return the stems one by one."""
    return tuple(_join(STEMS).split("|"))


@cache
def compile_stems() -> Any:
    """Return a pattern of the stems over UTF-8, or None where `google-re2` is not installed.

    `re` takes a hundred times as long for so many alternatives, and longer than a search for each.
    """
    try:
        return importlib.import_module("re2").compile(f"(?i){_join(STEMS)}")
    except ImportError:
        return None


def _join(lines: str) -> str:
    return "|".join(line.strip() for line in lines.strip().splitlines())
