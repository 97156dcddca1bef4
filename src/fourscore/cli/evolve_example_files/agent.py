"""A scripted agent that does as its prompt says, most of the time.

It knows the price, the day and the rule of every parcel. What it tells of them depends on the
prompt: asked for a thing it tells it nine times in ten, not asked one time in four, and told
to leave it out it does so. `answer` is what you would replace: it is given the input of a case and
the text of the version that is tried.
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
    """By a throw of dice that is the same each time."""
    dice = hashlib.blake2b(f"{demand} {question}".encode(), digest_size=4).digest()
    return int.from_bytes(dice, "big") / 2**32 < (0.9 if demand in prompt else 0.25)


def read(question: str) -> tuple[int, str, str]:
    """ "What does a parcel of 3 kg to Norway cost, posted on Monday?" """
    words = question.replace(",", " ").replace("?", " ").split()
    return int(words[words.index("kg") - 1]), words[words.index("to") + 1], words[-1]


def arrival(country: str, day: str) -> str:
    return DAYS[(DAYS.index(day) + 1 + len(country) % 3) % len(DAYS)]


def rule(weight: int) -> int:
    return 1 + weight // 5
