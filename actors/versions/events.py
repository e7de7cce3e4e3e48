"""Events of the rows of releases, for what memory holds of them."""

import msgspec

from persistence.versions.releases import Scope


class ScopeChanged(msgspec.Struct, frozen=True):
    """A release or a pointer of a scope has changed."""

    scope: Scope
