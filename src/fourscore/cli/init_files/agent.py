"""The agent under test. Put yours in place of `answer`: it is given the input of a case, no more.

It may be async, and return text or `{"output": ..., "usage": ...}`. This one looks a question up in
three notes of a library.
"""

from fourscore import record

NOTES = {
    "https://library.example/collection": (
        "The library has 42,000 books. The reading room has 60 seats."
    ),
    "https://library.example/loans": (
        "Books can be borrowed for 28 days. A late book costs 0.20 euros a day."
    ),
    "https://library.example/rooms": (
        "Study rooms hold six people. They can be booked seven days ahead."
    ),
}


def answer(question: str) -> str:
    """Your agent goes here."""
    url, text = search(question)
    if not url:
        return "I do not know."
    cited = " ".join(f"{sentence.rstrip('.')} [1]." for sentence in text.split(". "))
    return f"{cited}\n\nSources:\n[1] {url}"


def search(question: str) -> tuple[str, str]:
    """The note that shares most words with the question. `record` reports the call to Fourscore."""
    asked = {word.strip("?,.").lower() for word in question.split() if len(word) > 3}
    shared = {url: len(asked & words(f"{url} {text}")) for url, text in NOTES.items()}
    url = max(shared, key=lambda each: shared[each])
    found = (url, NOTES[url]) if shared[url] > 1 else ("", "")
    record.tool("search", {"query": question}, result=[{"url": found[0], "text": found[1]}])
    return found


def words(text: str) -> set[str]:
    return set(text.lower().replace("/", " ").replace(".", " ").split())
