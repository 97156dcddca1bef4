"""An evolution as one HTML file: the tree of its versions, each decision and each change of text.

    with Evolution("evolution", write=False) as evolution:
        write_lineage("lineage.html", evolution)

It shares style, scripts and compressed blocks with the report of a run. Everything that agents,
models and people wrote is data and reaches the screen as text only, and the page loads nothing from
elsewhere. Texts are read and compared one at a time and compressed as they come; what has no room
is left out, and the page says so. The same folder gives the same bytes.
"""

import os
from functools import cache
from pathlib import Path

import msgspec

from fourscore.evolve.folder import Evolution
from fourscore.evolve.lineage import VersionTree
from fourscore.report.evolution_page.history import PageHistory, make_headline
from fourscore.report.evolution_page.versions import VersionDetails, make_tree_lines
from fourscore.report.run_page.compressed_blocks import BlockWriter
from fourscore.report.run_page.page import Parts, join_scripts, read_part, render_page

#: Bytes that the lines of the tree and the details of versions may take.
TREE, DETAILS = 2_500_000, 8_000_000
#: Versions in the tree at the most.
VERSIONS = 3000


def write_lineage(path: str | Path, evolution: Evolution, *, room: int = DETAILS) -> None:
    """Write the report of an evolution."""
    family = VersionTree(evolution.history, VERSIONS)
    steps = PageHistory(evolution.events())
    details, without = BlockWriter(room), 0
    source = VersionDetails(evolution, steps)
    for number in sorted(family.shown):
        document = [number, 1, "", source.make(number)]
        without += not details.add((number, 1), msgspec.json.encode(document))
    table, lacking = BlockWriter(TREE), 0
    for place, line in enumerate(make_tree_lines(evolution, family, steps, source.first_changes)):
        lacking += not table.add((place, 0), msgspec.json.encode(line))
    bodies = details.close()
    head = make_headline(evolution, family, steps)
    head |= {"firsts": [block.first for block in bodies], "lacking": lacking, "without": without}
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as out:
            out.writelines(render_page(head, table.close(), bodies, parts()))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


#: In the order in which they stand in the page's one script.
SHARED = ("text", "charts", "theme", "blocks")
SCRIPTS = ("marks", "course", "diff", "version", "tree", "summary", "start")


@cache
def parts() -> Parts:
    shared = [read_part(f"script/{name}.js") for name in SHARED]
    own = [read_part(f"script/{name}.js", __package__) for name in SCRIPTS]
    style = read_part("style.css") + read_part("style.css", __package__)
    return Parts(read_part("page.html", __package__), style, join_scripts([*shared, *own]))
