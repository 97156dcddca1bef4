"""How far a source can be trusted, told from its address or number alone: nothing is opened.

`classify` rates one source. `hosts.txt`, `works.txt` and `names.txt` are what it knows by heart.
"""

from rubrica.judges.reliability.listing import Kind, Lists
from rubrica.judges.reliability.question import About, about
from rubrica.judges.reliability.rating import Rated, classify

__all__ = ["About", "Kind", "Lists", "Rated", "about", "classify"]
