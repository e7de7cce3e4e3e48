"""The upload terms of capes: their page, and routes to read and accept them (contract §8)."""

from importlib import resources

from actors.bounds import Bigint
from actors.capes.terms import TERMS_REVISION, accept_terms
from actors.errors import Conflict
from actors.time import iso
from persistence.capes.choices import Acceptance, read_acceptance
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED, PUBLIC
from routes.edge.reply import Page
from routes.edge.wire import Wire

PATH = "/terms/capes"
"""Path of the page of the terms."""

PAGE = resources.files("routes").joinpath("static/cape-terms.html").read_bytes()

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class UploadTerms(Wire, frozen=True):
    """The current terms, and whether the caller has accepted them.

    Args:
        revision: revision of the current terms.
        accepted: whether the caller has accepted this revision.
        accepted_at: when they accepted `acceptedRevision`; both null if they never accepted any.
        accepted_revision: the newest revision that they accepted.
        url: address of the page of the terms.
    """

    revision: int
    accepted: bool
    accepted_at: str | None
    accepted_revision: int | None
    url: str


class TermsBody(Wire, frozen=True):
    """The terms that are accepted.

    Args:
        revision: the revision that the caller was shown; left out = the current one.
    """

    revision: Bigint = TERMS_REVISION


@endpoint("GET", PATH, needs=PUBLIC, cacheable="public, no-cache")
def show_upload_terms(call: Call) -> Page:  # noqa: ARG001 - every handler is given its call
    """The current terms, as an HTML page."""
    return Page(PAGE, POLICY)


@endpoint("GET", "/v1/profile/capes/upload-terms", needs=AUTHENTICATED)
async def read_upload_terms(call: Call) -> UploadTerms:
    """The current terms, and whether the caller has accepted them."""
    return _terms(await call.service.database.read(read_acceptance, call.user_id), call)


@endpoint("POST", "/v1/profile/capes/upload-terms/accept", needs=AUTHENTICATED, refusals=(Conflict,))
async def accept_upload_terms(call: Call, body: TermsBody | None) -> UploadTerms:
    """Accepts the current terms; the body may be left out.

    A `revision` that is not the current one is a 409: the caller was shown other terms.
    """
    revision = TERMS_REVISION if body is None else body.revision
    return await change(
        call,
        accept_terms,
        call.user_id,
        revision,
        call.now_ms,
        about=None,
        shape=lambda accepted: _terms(accepted, call),
    )


def _terms(accepted: Acceptance | None, call: Call) -> UploadTerms:
    url = f"{call.service.config.base_url}{PATH}"
    if accepted is None:
        return UploadTerms(TERMS_REVISION, False, None, None, url)
    current = accepted.revision >= TERMS_REVISION
    return UploadTerms(TERMS_REVISION, current, iso(accepted.accepted_at_ms), accepted.revision, url)
