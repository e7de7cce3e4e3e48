"""Which release a client is offered. Pure."""

import hashlib
from collections.abc import Mapping, Sequence, Set
from typing import Literal

import msgspec

from actors.versions.semantic import precedence
from persistence.versions.pointers import Pointer
from persistence.versions.releases import Arch, Artifact, Platform, Release, Scope


class ScopeState(msgspec.Struct, frozen=True):
    """The pointers of a scope, and what is needed of its releases to resolve them.

    Args:
        pointers: {channel: its pointer}.
        releases: {id: release} of the releases that pointers name.
        versions: the versions of all releases that were published, yanked ones too.
        mandatory: the versions of published releases that are mandatory.
    """

    scope: Scope
    pointers: Mapping[str, Pointer]
    releases: Mapping[str, Release]
    versions: Set[str]
    mandatory: Sequence[str]


class Asked(msgspec.Struct, frozen=True):
    """What a client says of itself.

    Args:
        version: the version that it has.
        delta: whether it can apply a delta.
        inside: whether the roll-out reaches it, as `is_inside` says.
    """

    platform: Platform
    arch: Arch
    version: str
    delta: bool
    inside: bool


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What a client is offered.

    Args:
        target: the release that it should have; None if there is none for it.
        artifact: the file to install; None when nothing is to be installed.
        mandatory: whether the client must install it.
        downgrade: whether the target is older than the client's version.
        reason: why there is nothing to install although the target is another version; None otherwise.
    """

    target: Release | None
    artifact: Artifact | None = None
    mandatory: bool = False
    downgrade: bool = False
    reason: Literal["NO_ARTIFACT"] | None = None


def cohort_of(salt: str, client_id: str) -> int:
    """The place of a client among all clients in a roll-out, 0 to 99; always the same for the same salt."""
    digest = hashlib.sha256((salt + client_id).encode()).digest()
    return int.from_bytes(digest[:8], "big") % 100


def is_inside(state: ScopeState, pointer: Pointer, version: str, client_id: str | None) -> bool:
    """Whether the roll-out of the active release reaches a client.

    Going back reaches all, and so does a release for those below its minimum version. A client without an id is reached
    by a whole roll-out only.
    """
    active = state.releases[pointer.release_id]
    if pointer.went_back or active.percentage >= 100 or _is_below_minimum(active, version):
        return True
    return client_id is not None and cohort_of(active.salt, client_id) < active.percentage


def resolve(state: ScopeState, pointer: Pointer, asked: Asked) -> Resolved:
    """What a client is offered on a channel."""
    target = state.releases[pointer.release_id] if asked.inside else _previous(state, pointer)
    if target is None:
        return Resolved(target=None)
    here, there = precedence(asked.version), precedence(target.version)
    # A client that has never been given its version by us is not led back: anybody can claim a version.
    downgrade = there < here and asked.inside and pointer.went_back and asked.version in state.versions
    if not there > here and not downgrade:
        return Resolved(target=target)
    artifact = _artifact_for(target, asked)
    if artifact is None:
        return Resolved(target=target, reason="NO_ARTIFACT")
    mandatory = _is_below_minimum(target, asked.version) or any(
        here < precedence(version) <= there for version in state.mandatory
    )
    return Resolved(target=target, artifact=artifact, mandatory=mandatory, downgrade=downgrade)


def _previous(state: ScopeState, pointer: Pointer) -> Release | None:
    found = state.releases.get(pointer.previous_release_id or "")
    return found if found is not None and found.status == "published" else None


def _is_below_minimum(release: Release, version: str) -> bool:
    return release.min_version is not None and precedence(version) < precedence(release.min_version)


def _artifact_for(release: Release, asked: Asked) -> Artifact | None:
    fitting = [
        one
        for one in release.artifacts
        if one.platform in {asked.platform, "any"} and one.arch in {asked.arch, "any"}
    ]
    fitting.sort(key=lambda one: (one.platform == "any", one.arch == "any"))
    if asked.delta:
        deltas = (one for one in fitting if one.kind == "delta" and one.from_version == asked.version)
        delta = next(deltas, None)
        if delta is not None:
            return delta
    return next((one for one in fitting if one.kind == "full"), None)
