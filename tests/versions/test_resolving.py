"""Which release a client is offered: the rules, without a service."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.versions.resolving import Asked, ScopeState, cohort_of, is_inside, resolve
from actors.versions.semantic import is_version, precedence
from persistence.versions.pointers import Pointer
from persistence.versions.releases import Artifact, Release, ReleaseStatus, Scope, UpdatePolicy

SCOPE = Scope("launcher", "main")


def file(platform: str = "windows", arch: str = "x64", from_version: str | None = None) -> Artifact:
    name = f"{platform}-{arch}-{from_version}"
    return Artifact(
        id=name, platform=platform, arch=arch, kind="delta" if from_version else "full",  # type: ignore[arg-type]
        from_version=from_version, file_name=name, url="https://x", size_bytes=1, sha256=None, signature=None,
        key_id=None,
    )  # fmt: skip


def release(
    version: str,
    *,
    policy: UpdatePolicy = "optional",
    status: ReleaseStatus = "published",
    minimum: str | None = None,
    percentage: int = 100,
    artifacts: tuple[Artifact, ...] = (file(),),
) -> Release:
    return Release(
        id=version, scope=SCOPE, version=version, update_policy=policy, min_version=minimum, notes="", status=status,
        percentage=percentage, salt="salt", created_by=None, created_at_ms=0, published_at_ms=0, artifacts=artifacts,
    )  # fmt: skip


@dataclass
class Channel:
    """A channel and what its scope has.

    Args:
        active, previous: releases that it points to.
        others: further releases of the scope.
    """

    active: Release
    previous: Release | None = None
    others: tuple[Release, ...] = field(default=())

    def state(self) -> tuple[ScopeState, Pointer]:
        every = [one for one in (self.active, self.previous, *self.others) if one is not None]
        back = self.previous is not None and precedence(self.active.version) < precedence(
            self.previous.version
        )
        pointer = Pointer(
            scope=SCOPE, channel="stable", release_id=self.active.id,
            previous_release_id=None if self.previous is None else self.previous.id, revision=1, went_back=back,
            activated_by=None, activated_at_ms=0,
        )  # fmt: skip
        named = {one.id: one for one in every[: 2 if self.previous else 1]}
        mandatory = tuple(
            one.version for one in every if one.update_policy == "mandatory" and one.status == "published"
        )
        return ScopeState(
            SCOPE, {"stable": pointer}, named, frozenset(one.version for one in every), mandatory
        ), pointer

    def offers(
        self,
        version: str,
        *,
        client: str | None = "c",
        delta: bool = False,
        platform: str = "windows",
        arch: str = "x64",
    ) -> tuple[str | None, bool, bool, bool]:
        """(version to install or None, mandatory, downgrade, no artifact)."""
        state, pointer = self.state()
        inside = is_inside(state, pointer, version, client)
        found = resolve(state, pointer, Asked("windows", "x64", version, False, inside))
        installs = found.target.version if found.target is not None and found.artifact is not None else None
        return installs, found.mandatory, found.downgrade, found.reason == "NO_ARTIFACT"


NOTHING = (None, False, False, False)


@pytest.mark.parametrize(
    ("channel", "version", "expected"),
    [
        (Channel(release("1.1.0")), "1.0.0", ("1.1.0", False, False, False)),
        (Channel(release("1.1.0")), "1.1.0", NOTHING),
        (Channel(release("1.1.0")), "1.1.0+build.7", NOTHING),
        (Channel(release("1.1.0")), "1.1.0-rc.1", ("1.1.0", False, False, False)),
        (Channel(release("1.1.0")), "1.2.0", NOTHING),
        # Outside of the roll-out: the one before, as long as it is published.
        (Channel(release("1.2.0", percentage=0), release("1.1.0")), "1.0.0", ("1.1.0", False, False, False)),
        (Channel(release("1.2.0", percentage=0), release("1.1.0")), "1.1.0", NOTHING),
        (Channel(release("1.2.0", percentage=0), release("1.1.0", status="yanked")), "1.0.0", NOTHING),
        (Channel(release("1.2.0", percentage=0)), "1.0.0", NOTHING),
        # Below the minimum: inside, and it must.
        (Channel(release("1.2.0", percentage=0, minimum="1.1.0")), "1.0.9", ("1.2.0", True, False, False)),
        (Channel(release("1.2.0", percentage=0, minimum="1.1.0")), "1.1.0", NOTHING),
        # A mandatory release is rolled out like any other, and binds those who skip it.
        (Channel(release("1.2.0", policy="mandatory")), "1.0.0", ("1.2.0", True, False, False)),
        (Channel(release("1.2.0", policy="mandatory", percentage=0)), "1.0.0", NOTHING),
        (
            Channel(release("1.2.0"), others=(release("1.1.0", policy="mandatory"),)),
            "1.0.0",
            ("1.2.0", True, False, False),
        ),
        (
            Channel(release("1.2.0"), others=(release("1.1.0", policy="mandatory"),)),
            "1.1.0",
            ("1.2.0", False, False, False),
        ),
        (
            Channel(release("1.2.0"), others=(release("1.1.0", policy="mandatory", status="yanked"),)),
            "1.0.0",
            ("1.2.0", False, False, False),
        ),
        (
            Channel(release("1.2.0"), others=(release("1.3.0", policy="mandatory"),)),
            "1.0.0",
            ("1.2.0", False, False, False),
        ),
        # Going back reaches all who have a version of ours, whatever the percentage.
        (Channel(release("1.1.0", percentage=0), release("1.2.0")), "1.2.0", ("1.1.0", False, True, False)),
        (Channel(release("1.1.0", percentage=0), release("1.2.0")), "9.9.9", NOTHING),
        (Channel(release("1.1.0", percentage=0), release("1.2.0")), "1.0.0", ("1.1.0", False, False, False)),
        (Channel(release("1.1.0", artifacts=())), "1.0.0", (None, False, False, True)),
    ],
    ids=str,
)
def test_what_is_offered(
    channel: Channel, version: str, expected: tuple[str | None, bool, bool, bool]
) -> None:
    assert channel.offers(version) == expected


@pytest.mark.parametrize(
    ("artifacts", "platform", "arch", "delta", "chosen"),
    [
        ((file("any", "any"), file("windows", "x64")), "windows", "x64", False, "windows-x64-None"),
        ((file("any", "any"), file("any", "x64")), "windows", "x64", False, "any-x64-None"),
        ((file("any", "x64"), file("windows", "any")), "windows", "x64", False, "windows-any-None"),
        ((file("any", "any"), file("windows", "x64")), "linux", "arm64", False, "any-any-None"),
        ((file(), file(from_version="1.0.0")), "windows", "x64", True, "windows-x64-1.0.0"),
        ((file(), file(from_version="1.0.0")), "windows", "x64", False, "windows-x64-None"),
        ((file(), file(from_version="0.9.0")), "windows", "x64", True, "windows-x64-None"),
        ((file(from_version="1.0.0"),), "windows", "x64", False, None),
        ((file("macos"),), "windows", "x64", False, None),
    ],
)
def test_the_file_that_fits_most_closely_is_offered(
    artifacts: tuple[Artifact, ...], platform: str, arch: str, delta: bool, chosen: str | None
) -> None:
    state, pointer = Channel(release("1.1.0", artifacts=artifacts)).state()
    found = resolve(state, pointer, Asked(platform, arch, "1.0.0", delta, inside=True))  # type: ignore[arg-type]
    assert (found.artifact.id if found.artifact is not None else None) == chosen
    assert found.reason == (None if chosen else "NO_ARTIFACT")


def test_without_an_id_a_client_waits_for_the_whole_roll_out() -> None:
    assert Channel(release("1.1.0", percentage=99)).offers("1.0.0", client=None) == NOTHING
    assert Channel(release("1.1.0", percentage=100)).offers("1.0.0", client=None)[0] == "1.1.0"


@given(
    st.lists(
        st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=128), min_size=1
    )
)
def test_a_higher_percentage_only_ever_adds_clients(clients: list[str]) -> None:
    reached: set[str] = set()
    for percentage in (0, 1, 10, 50, 99, 100):
        channel = Channel(release("1.1.0", percentage=percentage))
        now = {client for client in clients if channel.offers("1.0.0", client=client)[0] == "1.1.0"}
        assert reached <= now
        reached = now
    assert reached == set(clients)


def test_cohorts_are_as_described_and_even() -> None:
    # The first 8 bytes of SHA-256("saltclient"), big-endian, modulo 100.
    assert cohort_of("salt", "client") == 26
    found = [cohort_of("salt", f"client-{number}") for number in range(20_000)]
    counts = [found.count(cohort) for cohort in range(100)]
    assert min(counts) > 130
    assert max(counts) < 270


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("1.0.0", True),
        ("1.0.0-beta.1+build", True),
        ("0.0.0", True),
        ("v1.0.0", False),
        ("1.0", False),
        ("1.0.0.0", False),
        ("01.0.0", False),
        ("1.0.0-", False),
        ("1.0.0\n", False),
        ("", False),
        ("1.0.0-" + "a" * 58, True),
        ("1.0.0-" + "a" * 59, False),
    ],
)
def test_what_is_a_version(text: str, valid: bool) -> None:
    assert is_version(text) is valid


def test_order_of_versions() -> None:
    ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.2.0",
        "1.10.0",
    ]
    assert sorted({*ordered}, key=precedence) == ordered
    assert precedence("1.0.0+a") == precedence("1.0.0+b")
