"""The agent under test. Replace `answer` by your agent: it gets only the input of a case.

It may be async, and return text or `{"output": ..., "usage": ...}`. This example searches three
notes of a library.
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
    """Return the answer to a question; replace this by your agent."""
    url, text = search(question)
    if not url:
        return "I do not know."
    cited = " ".join(f"{sentence.rstrip('.')} [1]." for sentence in text.split(". "))
    return f"{cited}\n\nSources:\n[1] {url}"


def search(question: str) -> tuple[str, str]:
    """Return the note with the most words of the question; `record` reports the tool call."""
    asked = {word.strip("?,.").lower() for word in question.split() if len(word) > 3}
    shared = {url: len(asked & words(f"{url} {text}")) for url, text in NOTES.items()}
    url = max(shared, key=lambda each: shared[each])
    found = (url, NOTES[url]) if shared[url] > 1 else ("", "")
    record.tool("search", {"query": question}, result=[{"url": found[0], "text": found[1]}])
    return found


def words(text: str) -> set[str]:
    return set(text.lower().replace("/", " ").replace(".", " ").split())
