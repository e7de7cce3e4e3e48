"""The Domain record of releases."""

from persistence.versions.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.service import Service
from routes.versions import channels, content, downloads, events, feeds, releases, resolve
from routes.versions.hosted import HOSTED_FILES
from routes.versions.jobs import jobs_of
from routes.versions.parts import ANSWERS, FOLDERS, RELEASE_KEY, RELEASES, TALLY
from routes.versions.reactions import REACTIONS, RECONCILIATIONS, follow


def _show_gauges(service: Service) -> None:
    text = "Scopes of releases in memory."
    service.metrics.gauge("release_scopes_in_memory", text, lambda: len(service.of(RELEASES)))


VERSIONS = Domain(
    name="versions",
    mounts=(Mount("versions", (releases, channels, events, resolve, downloads, content, feeds)),),
    parts=(RELEASES, RELEASE_KEY, ANSWERS, TALLY, FOLDERS, HOSTED_FILES),
    jobs=jobs_of,
    follow=follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    gauges=_show_gauges,
    exported=EXPORTED,
)
