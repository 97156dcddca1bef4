"""Find and break the special tokens of chat templates: `<|im_start|>`, `[/INST]`, `</s>`.

Many servers turn such a text into the token itself, wherever in a message it stands. So an answer
could end its own turn and begin another one, whatever fence is around it. A space after the first
character makes it plain text again, which people and models still read.
"""

import re

#: Tokens that begin or end a turn or a text. Full-width signs count: DeepSeek writes `<｜User｜>`,
#: and some tokenizers turn them into ASCII. The text of a token has no spaces in any family.
_TURN = (
    # ChatML, Llama 3, Phi, Qwen, GLM, Command R, Harmony, DeepSeek; Gemma 4 has `<|turn>`.
    r"[<＜](?:[|｜][^\s<>＜＞|｜]+[|｜]?|[^\s<>＜＞|｜]+[|｜])[>＞]"
    # Llama 2, Mistral, GLM.
    r"|[\[［][/／]?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|ARGS"
    r"|CALL_ID|MODEL_SETTINGS|THINK|BOS|EOS|gMASK)[\]］]"
    r"|[<＜]{2}[/／]?SYS[>＞]{2}"
    # SentencePiece and others; Gemma.
    r"|[<＜][/／]?(?:s|bos|eos|eot|eod|pad|unk|mask|sep|sop|eop|eoh|eoa|endoftext"
    r"|(?:start|end|begin|beginning)_[a-z_]+|(?:unused|extra_id_|SPECIAL_)\d+|seed:[a-z_/]+)[>＞]"
)
TURN_TOKEN = re.compile(_TURN)
#: The same, and the tags of reasoning and of tool calls.
CHAT_TOKEN = re.compile(rf"{_TURN}|[<＜][/／]?(?:think|tools?|tool_(?:call|response)s?)[>＞]")
_BROKEN = re.compile(r"(?<=[<＜\[［]) (?=[|｜/／<＜\w])")


def break_chat_tokens(text: str) -> str:
    """Return the text with a space after the first character of each special token."""
    return CHAT_TOKEN.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)


def join_chat_tokens(text: str) -> str:
    """Return a model's quotation without the spaces that `break_chat_tokens` has added."""
    return _BROKEN.sub("", text)
