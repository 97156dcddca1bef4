"""Words that stand around what a model is shown, in the languages of the prompts."""

#: Names of fences, as the prompts speak of them.
TITLES = {
    "en": {
        "question": "QUESTION",
        "answer": "ANSWER",
        "reference": "REFERENCE",
        "text": "TEXT",
        "expected": "EXPECTED",
        "correct": "CORRECT ANSWER",
        "given": "GIVEN ANSWER",
        "claim": "CLAIM",
        "aspect": "ASPECT",
        "source": "SOURCE",
        "context": "CONTEXT",
        "statement": "STATEMENT",
        "call": "CALL",
    },
    "zh": {
        "question": "问题",
        "answer": "回答",
        "reference": "参考答案",
        "text": "文本",
        "expected": "预期结果",
        "correct": "正确答案",
        "given": "给出的回答",
        "claim": "主张",
        "aspect": "方面",
        "source": "来源",
        "context": "上下文",
        "statement": "语句",
        "call": "调用",
    },
}
#: Said where a reply could not be used.
REMINDERS = {
    "en": "An earlier reply could not be used. Keep to the form; `number` has to be {number}.",
    "zh": "之前的回复无法使用。请严格遵守格式；number 必须是 {number}。",
}
#: Said where a reply did not begin with one of the words that were asked for.
WORD_REMINDERS = {
    "en": "An earlier reply could not be used. Reply with one word and nothing else: {words}.",
    "zh": "之前的回复无法使用。请只回复一个词：{words}。",
}
