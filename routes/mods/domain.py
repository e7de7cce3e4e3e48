"""The Domain record of mods."""

from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.mods import curseforge, modrinth, search
from routes.mods.parts import MODS as CATALOGUES
from routes.service import Service


def _show_gauges(service: Service) -> None:
    library, metrics = service.of(CATALOGUES), service.metrics
    metrics.gauge(
        "mods_kept_bytes", "Answers of the catalogues of mods in memory.", lambda: library.kept.held_bytes
    )
    metrics.gauge(
        "mods_kept_entries",
        "Requests to the catalogues of mods that memory knows.",
        lambda: len(library.kept),
    )
    metrics.counters(
        "mods_answers", "Answers about mods by where they came from.", "origin", lambda: library.answers
    )
    metrics.counters(
        "mods_upstream_requests",
        "Requests that were sent to each catalogue of mods.",
        "source",
        lambda: {name: source.asked for name, source in library.sources.items()},
    )


MODS = Domain(
    name="mods",
    mounts=(Mount("mods", (search, modrinth, curseforge)),),
    parts=(CATALOGUES,),
    gauges=_show_gauges,
)
