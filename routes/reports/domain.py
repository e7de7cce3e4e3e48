"""The Domain record of reports."""

from persistence.reports.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.reports import reports

REPORTS = Domain(
    name="reports",
    mounts=(Mount("reports", (reports,)),),
    exported=EXPORTED,
)
