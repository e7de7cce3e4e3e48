"""What a release may be, and what may become of it. Pure."""

import base64
import binascii
import re
from collections.abc import Sequence

import msgspec

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.file_names import clean_name
from actors.texts import line_flaws, lines_flaws
from actors.versions.semantic import is_version, precedence
from actors.web_addresses import https_flaws
from persistence.versions.releases import (
    Arch,
    Artifact,
    ArtifactKind,
    Platform,
    Release,
    ReleaseStatus,
    Scope,
    UpdatePolicy,
)

ARTIFACTS_MAX = 64
NOTES_MAX_BYTES = 32 * 1024
URL_MAX = 2_000
SIZE_MAX_BYTES = 2**40
FILE_NAME_MAX = 200
KEY_ID_MAX = 100

SIGNED_SCOPES = frozenset({"service", "runtime"})
"""Scopes of programs that run unattended: each of their artifacts must have a digest and a signature (contract §10)."""

MOVES: dict[tuple[ReleaseStatus, ReleaseStatus], str | None] = {
    ("draft", "published"): "release.published",
    ("published", "yanked"): "release.yanked",
    ("draft", "draft"): None,
    ("published", "published"): None,
    ("yanked", "yanked"): None,
}
"""{(state, next state): the action in the audit trail, None where the state stays}. A yanked release stays yanked."""

CHANGES_WHEN_PUBLISHED = frozenset({"notes", "update_policy", "min_version", "percentage", "status"})
"""The fields that may change of a published release, which clients may have."""

PLATFORMS: dict[str, Platform] = {
    "windows": "windows", "win32": "windows", "macos": "macos", "darwin": "macos", "linux": "linux", "any": "any",
}  # fmt: skip
"""{what clients call a platform: its name}"""

ARCHS: dict[str, Arch] = {
    "x64": "x64", "amd64": "x64", "x86_64": "x64", "arm64": "arm64", "aarch64": "arm64", "ia32": "ia32", "any": "any",
}  # fmt: skip
"""{what clients call an architecture: its name}"""

SCOPE_ID_FORM = re.compile(r"[A-Za-z0-9._-]{1,100}")
# Clients take these out of an address before they send it (RFC 3986 §5.2.4), so that no feed could lie below one.
_DOT_SEGMENTS = frozenset({".", ".."})
CHANNEL_FORM = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
SHA256_FORM = re.compile(r"[0-9A-Fa-f]{64}")
_SIGNATURE_BYTES = 64


class ArtifactDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a publisher says about a file; `Artifact` says what the fields hold.

    Args:
        platform, arch: the platform and architecture, in any of the spellings of `PLATFORMS` and `ARCHS`.
        sha256: the digest in hexadecimal, in either case.
    """

    platform: str
    arch: str
    kind: ArtifactKind
    from_version: str | None
    file_name: str
    url: str | None
    size_bytes: int
    sha256: str | None
    signature: str | None
    key_id: str | None


class ReleaseDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a release is to be; `Release` says what the fields hold."""

    version: str
    update_policy: UpdatePolicy
    min_version: str | None
    notes: str
    status: ReleaseStatus
    percentage: int


def scope_flaws(scope: Scope, pointer: str) -> list[FieldError]:
    """The error of a scope's id, in a list; `pointer` is its JSON pointer."""
    if SCOPE_ID_FORM.fullmatch(scope.id) is not None:
        return []
    return [FieldError(pointer, "BAD_FORMAT", "1 to 100 of letters, digits, `.`, `_` and `-`")]


def is_channel(text: str) -> bool:
    """Whether a text can be the name of a channel."""
    return CHANNEL_FORM.fullmatch(text) is not None


def check_new_release(scope: Scope, draft: ReleaseDraft, artifacts: Sequence[Artifact]) -> None:
    """Check a release that is to be made, and the name of its scope, which never changes.

    Raises:
        Invalid: a rule is broken; it has an error for each flaw.
    """
    named = scope_flaws(scope, "/scope/id")
    if scope.id in _DOT_SEGMENTS:
        named.append(FieldError("/scope/id", "BAD_FORMAT", "no address could name it"))
    flaws = named + _release_flaws(scope, draft, artifacts)
    if flaws:
        raise Invalid(*flaws)


def check_release(scope: Scope, draft: ReleaseDraft, artifacts: Sequence[Artifact]) -> None:
    """Check a release as it is to become.

    Raises:
        Invalid: a rule is broken; it has an error for each flaw.
    """
    flaws = _release_flaws(scope, draft, artifacts)
    if flaws:
        raise Invalid(*flaws)


def _release_flaws(scope: Scope, draft: ReleaseDraft, artifacts: Sequence[Artifact]) -> list[FieldError]:
    flaws = _version_flaws(draft)
    if len(draft.notes.encode()) > NOTES_MAX_BYTES:
        flaws.append(FieldError("/notes", "TOO_LONG", f"at most {NOTES_MAX_BYTES} bytes"))
    else:
        flaws += lines_flaws(draft.notes, "/notes", NOTES_MAX_BYTES)
    if not 0 <= draft.percentage <= 100:
        flaws.append(FieldError("/rollout/percentage", "OUT_OF_RANGE", "0 to 100"))
    for index, one in enumerate(artifacts):
        at = f"/artifacts/{index}"
        if scope.type in SIGNED_SCOPES:
            flaws += _unsigned(one, at)
        if one.kind == "delta" and not _is_below(one.from_version, draft.version):
            flaws.append(
                FieldError(f"{at}/fromVersion", "OUT_OF_RANGE", "a version below that of the release")
            )
        if draft.status == "published" and one.url is None and not one.hosted:
            flaws.append(FieldError(f"{at}/url", "REQUIRED", "an address, or its bytes put here"))
    return flaws


def checked_artifacts(drafts: Sequence[ArtifactDraft], ids: Sequence[str]) -> tuple[Artifact, ...]:
    """The artifacts of a release, in their normal form.

    Args:
        drafts: the artifacts, in the order of the publisher.
        ids: fresh objectIds, one for each artifact.

    Raises:
        Invalid: a rule is broken; it has an error for each flaw.
    """
    if len(drafts) > ARTIFACTS_MAX:
        raise Invalid(FieldError("/artifacts", "TOO_MANY", f"at most {ARTIFACTS_MAX} artifacts"))
    flaws: list[FieldError] = []
    kinds: set[object] = set()
    names: set[str] = set()
    found = []
    for index, draft in enumerate(drafts):
        at = f"/artifacts/{index}"
        mine = _artifact_flaws(draft, at)
        key = (PLATFORMS.get(draft.platform), ARCHS.get(draft.arch), draft.kind, draft.from_version)
        if key in kinds:
            mine.append(
                FieldError(f"{at}/platform", "DUPLICATE", "each platform, architecture and kind once")
            )
        if draft.file_name in names:
            mine.append(FieldError(f"{at}/fileName", "DUPLICATE", "each name once"))
        kinds.add(key)
        names.add(draft.file_name)
        flaws += mine
        if not mine:
            found.append(_artifact(draft, ids[index]))
    if flaws:
        raise Invalid(*flaws)
    return tuple(found)


def draft_of(release: Release) -> ReleaseDraft:
    """A release as a draft that can be changed."""
    return ReleaseDraft(**{name: getattr(release, name) for name in ReleaseDraft.__struct_fields__})


def _artifact(draft: ArtifactDraft, id: str) -> Artifact:
    return Artifact(
        id=id, platform=PLATFORMS[draft.platform], arch=ARCHS[draft.arch], kind=draft.kind,
        from_version=draft.from_version, file_name=draft.file_name, url=draft.url, size_bytes=draft.size_bytes,
        sha256=None if draft.sha256 is None else draft.sha256.lower(), signature=draft.signature, key_id=draft.key_id,
    )  # fmt: skip


def _artifact_flaws(draft: ArtifactDraft, at: str) -> list[FieldError]:
    flaws = []
    if draft.platform not in PLATFORMS:
        flaws.append(FieldError(f"{at}/platform", "UNKNOWN_VALUE", f"one of {', '.join(PLATFORMS)}"))
    if draft.arch not in ARCHS:
        flaws.append(FieldError(f"{at}/arch", "UNKNOWN_VALUE", f"one of {', '.join(ARCHS)}"))
    if draft.kind == "delta" and (draft.from_version is None or not is_version(draft.from_version)):
        flaws.append(
            FieldError(f"{at}/fromVersion", "BAD_FORMAT", "the version that the delta is applied to")
        )
    if draft.kind == "full" and draft.from_version is not None:
        flaws.append(FieldError(f"{at}/fromVersion", "NOT_ALLOWED", "a whole file fits every version"))
    if not 0 < len(draft.file_name) <= FILE_NAME_MAX or clean_name(draft.file_name) != draft.file_name:
        flaws.append(FieldError(f"{at}/fileName", "BAD_FORMAT", "a file's name without a path"))
    if draft.url is not None:
        flaws += https_flaws(draft.url, f"{at}/url", URL_MAX)
    if not 1 <= draft.size_bytes <= SIZE_MAX_BYTES:
        flaws.append(FieldError(f"{at}/sizeBytes", "OUT_OF_RANGE", f"1 to {SIZE_MAX_BYTES}"))
    if draft.sha256 is not None and SHA256_FORM.fullmatch(draft.sha256) is None:
        flaws.append(FieldError(f"{at}/sha256", "BAD_FORMAT", "64 hexadecimal digits"))
    if draft.key_id is not None:
        flaws += line_flaws(draft.key_id, f"{at}/keyId", KEY_ID_MAX)
    return flaws + _signature_flaws(draft, at)


def _signature_flaws(draft: ArtifactDraft, at: str) -> list[FieldError]:
    if draft.signature is None:
        return []
    flaws = []
    try:
        raw = base64.b64decode(draft.signature, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != _SIGNATURE_BYTES:
        flaws.append(
            FieldError(f"{at}/signature", "BAD_FORMAT", "base64 of the 64 bytes of an Ed25519 signature")
        )
    if draft.key_id is None:
        flaws.append(FieldError(f"{at}/keyId", "REQUIRED", "the key of the signature"))
    return flaws


def _version_flaws(draft: ReleaseDraft) -> list[FieldError]:
    if not is_version(draft.version):
        return [FieldError("/version", "BAD_FORMAT", "a version by SemVer 2.0.0, at most 64 characters")]
    if draft.min_version is None:
        return []
    if not is_version(draft.min_version):
        return [FieldError("/minVersion", "BAD_FORMAT", "a version by SemVer 2.0.0, at most 64 characters")]
    if precedence(draft.min_version) > precedence(draft.version):
        return [FieldError("/minVersion", "OUT_OF_RANGE", "at most the version of the release")]
    return []


def _unsigned(one: Artifact, at: str) -> list[FieldError]:
    missing = {"sha256": one.sha256, "signature": one.signature}
    return [
        FieldError(f"{at}/{name}", "REQUIRED", "services and runtimes are verified")
        for name, value in missing.items()
        if value is None
    ]


def _is_below(from_version: str | None, version: str) -> bool:
    return (
        from_version is not None
        and is_version(version)
        and is_version(from_version)
        and precedence(from_version) < precedence(version)
    )
