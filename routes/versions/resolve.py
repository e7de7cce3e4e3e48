"""What clients can ask without a token: which release they should have, its files, and the keys (contract §10)."""

from typing import Annotated

import msgspec
import trio

from actors.bounds import IdText
from actors.errors import NotFound
from actors.time import iso
from actors.versions.public import ArtifactEntry, ReleaseEntry, ScopeEntry, artifact_entry, release_entry
from actors.versions.releases import ARCHS, PLATFORMS
from actors.versions.resolving import Asked, Resolved, ScopeState, is_inside, resolve
from actors.versions.semantic import is_version
from actors.versions.signing import ReleaseKey
from persistence.versions.pointers import Pointer
from persistence.versions.releases import Scope, ScopeType
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import bad_parameter
from routes.edge.principal import PUBLIC
from routes.edge.reply import Encoded
from routes.edge.wire import Wire, encode
from routes.versions.parts import ANSWERS, RELEASE_KEY, RELEASES

HOUR_MS = 60 * 60 * 1000

LASTING_MS = 25 * HOUR_MS
"""How long an answer is valid from the beginning of its hour, so 24 to 25 hours in all; this limits how long somebody
can keep a client from hearing of a newer release."""

SHARED = "public, max-age=60"
"""Cache-Control of what is the same for all clients."""

ClientId = Annotated[str, msgspec.Meta(max_length=128, pattern=r"^[ -~]+$(?!\n)")]


class ResolveQuery(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a client says of itself.

    Args:
        channel: the channel that the client follows.
        platform, arch: as in artifacts, in any of their spellings.
        version: that it has, by SemVer 2.0.0.
        client_id: 1 to 128 printable characters that stay the same; places it in a roll-out, and is not kept.
        delta: whether it can apply a delta.
    """

    scope_type: ScopeType
    scope_id: IdText
    channel: IdText
    platform: IdText
    arch: IdText
    version: IdText
    client_id: ClientId | None = None
    delta: bool = False


class ResolveMetadata(Wire, frozen=True):
    """What lets a client trust the answer.

    Args:
        revision: of the channel; a client refuses one below the highest that it has seen.
        expires_at: from when the answer is too old.
        key_id: the key of the signature, one of `/v1/public/versions/keys`.
        signature: base64 of the Ed25519 signature over the canonical JSON (RFC 8785) of the whole answer without this
            field.
    """

    revision: int
    expires_at: str
    key_id: str
    signature: str


class ResolveAnswer(Wire, frozen=True):
    """What a client is offered.

    Args:
        scope, channel, current_version: what was asked for; a client compares them, since an answer to another question
            is signed as well.
        update_available: whether there is something to install.
        mandatory_update: whether the client must not go on without it.
        target_version: of the release that it should have; null if there is none for it.
        release, artifact: what to install, and from where; null when there is nothing to do.
        delta: whether the artifact is one.
        downgrade: the target is older: the publisher has gone back.
        reason: `NO_ARTIFACT`: the target has no file for this platform.
        metadata: what lets a client trust the answer.
    """

    scope: ScopeEntry
    update_available: bool
    mandatory_update: bool
    current_version: str
    target_version: str | None
    release: ReleaseEntry | None
    artifact: ArtifactEntry | None
    delta: bool
    downgrade: bool
    reason: str | None
    channel: str
    metadata: ResolveMetadata


class AssetsQuery(msgspec.Struct, frozen=True, rename="camel"):
    """The channel whose active release is asked about.

    Args:
        channel: the channel's name, such as `stable`.
    """

    scope_type: ScopeType
    scope_id: IdText
    channel: IdText


class Assets(Wire, frozen=True):
    """The files of the active release."""

    items: list[ArtifactEntry]


class ReleaseKeyEntry(Wire, frozen=True):
    """A public key of releases.

    Args:
        algorithm: what it signs with.
        public_key: base64.
        active: whether it signs now.
    """

    key_id: str
    algorithm: str
    public_key: str
    active: bool


class ReleaseKeys(Wire, frozen=True):
    """The keys that sign what clients are offered."""

    items: list[ReleaseKeyEntry]


@endpoint("GET", "/v1/public/versions/resolve", needs=PUBLIC, cacheable=SHARED, refusals=(NotFound,))
async def resolve_version(call: Call, query: ResolveQuery) -> Encoded[ResolveAnswer]:
    """Which release a client should have, signed.

    A client is among those whom a roll-out reaches when the first 8 bytes of SHA-256(salt + clientId), as a number, are
    below the percentage modulo 100; raising it only ever adds clients. Outside, it is offered the release before. Going
    back reaches all that have a version of ours. A channel that points to nothing is a 404.
    """
    state, pointer, asked = await _checked(call, query)
    hour = call.now_ms // HOUR_MS
    key = (pointer.channel, asked, hour)
    answers = call.service.of(ANSWERS)
    answer = answers.get(key, state)
    if answer is None:
        # Signing what has 64 artifacts and long notes takes 5 ms.
        answer = await trio.to_thread.run_sync(
            _signed, call.service.of(RELEASE_KEY), state, pointer, asked, (hour * HOUR_MS) + LASTING_MS
        )
        answers.keep(key, state, answer)
    return Encoded(answer)


@endpoint("GET", "/v1/public/versions/assets", needs=PUBLIC, cacheable=SHARED, refusals=(NotFound,))
async def list_assets(call: Call, query: AssetsQuery) -> Assets:
    """The files of the release that a channel points to."""
    state, pointer = await pointer_of(call, query.scope_type, query.scope_id, query.channel)
    return Assets(list(map(artifact_entry, state.releases[pointer.release_id].artifacts)))


@endpoint("GET", "/v1/public/versions/keys", needs=PUBLIC, cacheable=SHARED)
async def list_release_keys(call: Call) -> ReleaseKeys:
    """The keys that sign what clients are offered; launchers pin them."""
    key = call.service.of(RELEASE_KEY)
    return ReleaseKeys([ReleaseKeyEntry(key.key_id, "Ed25519", key.public_key, active=True)])


async def pointer_of(
    call: Call, scope_type: ScopeType, scope_id: str, channel: str
) -> tuple[ScopeState, Pointer]:
    """The state of a scope, and the pointer of one of its channels.

    Raises:
        NotFound: the channel points to nothing.
        DatabaseUnavailable: the scope is not in memory, and the database cannot be asked.
    """
    state = await call.service.of(RELEASES).state_of(Scope(scope_type, scope_id))
    pointer = None if state is None else state.pointers.get(channel)
    if state is None or pointer is None:
        raise NotFound("this channel points to no release")
    return state, pointer


async def resolved_for(call: Call, query: ResolveQuery) -> Resolved:
    """What a client is offered.

    Raises:
        BadQuery: the platform, architecture or version is not valid.
        NotFound, DatabaseUnavailable: as `pointer_of`.
    """
    return resolve(*await _checked(call, query))


async def _checked(call: Call, query: ResolveQuery) -> tuple[ScopeState, Pointer, Asked]:
    platform, arch = PLATFORMS.get(query.platform), ARCHS.get(query.arch)
    if platform is None:
        raise bad_parameter("platform")
    if arch is None:
        raise bad_parameter("arch")
    if not is_version(query.version):
        raise bad_parameter("version")
    state, pointer = await pointer_of(call, query.scope_type, query.scope_id, query.channel)
    inside = is_inside(state, pointer, query.version, query.client_id)
    return state, pointer, Asked(platform, arch, query.version, query.delta, inside)


def _signed(key: ReleaseKey, state: ScopeState, pointer: Pointer, asked: Asked, expires_at_ms: int) -> bytes:
    resolved = resolve(state, pointer, asked)
    artifact, target = resolved.artifact, resolved.target
    answer = ResolveAnswer(
        scope=ScopeEntry(state.scope.type, state.scope.id),
        update_available=artifact is not None,
        mandatory_update=resolved.mandatory,
        current_version=asked.version,
        target_version=None if target is None else target.version,
        release=None if target is None or artifact is None else release_entry(target, whole=False),
        artifact=None if artifact is None else artifact_entry(artifact),
        delta=artifact is not None and artifact.kind == "delta",
        downgrade=resolved.downgrade,
        reason=resolved.reason,
        channel=pointer.channel,
        metadata=ResolveMetadata(pointer.revision, iso(expires_at_ms), key.key_id, ""),
    )
    document = msgspec.json.decode(encode(answer))
    del document["metadata"]["signature"]
    metadata = msgspec.structs.replace(answer.metadata, signature=key.sign(document))
    return encode(msgspec.structs.replace(answer, metadata=metadata))
