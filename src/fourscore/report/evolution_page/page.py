"""What the page is made of: the report's own style and script, and what a lineage adds to them."""

from functools import cache

from fourscore.report.run_page.page import Parts, part, scripted

#: In the order in which they stand in the page's one script.
SHARED = ("text", "charts", "theme", "parcels")
SCRIPTS = ("marks", "course", "diff", "version", "tree", "summary", "start")


@cache
def parts() -> Parts:
    shared = [part(f"script/{name}.js") for name in SHARED]
    own = [part(f"script/{name}.js", __package__) for name in SCRIPTS]
    style = part("style.css") + part("style.css", __package__)
    return Parts(part("page.html", __package__), style, scripted([*shared, *own]))
