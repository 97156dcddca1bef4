"""Unicode characters and the LaTeX or ASCII that they stand for."""

from __future__ import annotations

_UNICODE = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ",
    "∙": r"\cdot ", "÷": r"\div ", "∕": "/", "⁄": "/", "π": r"\pi ", "∞": r"\infty ",
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "±": r"\pm ",
    "∓": r"\mp ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "°": r"^\circ ",
    "²": "^2", "³": "^3", "¹": "^1", "⁰": "^0", "⁴": "^4", "⁵": "^5", "½": r"\frac12 ",
    "⅓": r"\frac13 ", "⅔": r"\frac23 ", "¼": r"\frac14 ", "¾": r"\frac34 ", "⅕": r"\frac15 ",
    "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ",
    "ℝ": r"\mathbb{R}", "′": "'", "“": '"', "”": '"', "‘": "'", "’": "'", "，": ",", "。": ".",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "\ufeff": "", "€": r"\€", "£": r"\£",
    "¥": r"\¥", "₹": r"\₹", "⟨": r"\langle ", "⟩": r"\rangle ",
}  # fmt: skip
TABLE = {ord(key): value for key, value in _UNICODE.items()}
TABLE |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width forms
