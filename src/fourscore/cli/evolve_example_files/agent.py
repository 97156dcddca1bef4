"""A scripted agent that follows its prompt most of the time.

It knows the price, the day and the rule of every parcel. Its answer has a fact nine times in ten
if the prompt asks for that fact, else one time in four, and never if the prompt forbids it.
Replace `answer` by your agent: it gets the input of a case and the text of the prompt version.
"""

import hashlib

PRICES = {"Austria": 6, "France": 9, "Italy": 11, "Norway": 18, "Poland": 7, "Spain": 13}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def answer(question: str, prompt: str) -> str:
    weight, country, day = read(question)
    demands = prompt.lower()
    price = f"{PRICES[country] + weight * 0.5:.2f}"
    if "whole tens" in demands:
        price = f"{round(float(price), -1):.0f}"
    parts = [f"That is {price} euros." if follows(question, demands, "currency") else f"{price}."]
    if follows(question, demands, "day of arrival") and "never commit" not in demands:
        parts.append(f"It arrives on {arrival(country, day)}.")
    if follows(question, demands, "number of the rule"):
        parts.append(f"This is by rule {rule(weight)}.")
    words = " ".join(parts).split()
    return " ".join(words[:3] if "three words" in demands else words)


def follows(question: str, prompt: str, demand: str) -> bool:
    """Whether the answer meets the demand: chance by a hash, so the same in every run."""
    dice = hashlib.blake2b(f"{demand} {question}".encode(), digest_size=4).digest()
    return int.from_bytes(dice, "big") / 2**32 < (0.9 if demand in prompt else 0.25)


def read(question: str) -> tuple[int, str, str]:
    """Return weight, country and day of a question such as those in cases.jsonl."""
    words = question.replace(",", " ").replace("?", " ").split()
    return int(words[words.index("kg") - 1]), words[words.index("to") + 1], words[-1]


def arrival(country: str, day: str) -> str:
    return DAYS[(DAYS.index(day) + 1 + len(country) % 3) % len(DAYS)]


def rule(weight: int) -> int:
    return 1 + weight // 5
