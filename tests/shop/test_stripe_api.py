"""The client of Stripe's API against a server that behaves like it, well and badly, over sockets."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
import trio
from msgspec.structs import replace

from routes.shop.provider import ProviderAway, ProviderRefused, SessionLine, SessionState
from routes.shop.stripe_api import Stripe, is_live
from scripts.upstreams.stripe import SESSIONS, StripeSite
from tests.shop.stripe_play import CANARY, ORDER, RETURN, TOTAL, attempt, stripe_client, stripe_site
from tests.support.waiting import patience

CREATE = f"POST {SESSIONS}"


@dataclass
class Pair:
    site: StripeSite
    stripe: Stripe


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    async with stripe_site() as site, stripe_client(site) as stripe:
        yield Pair(site, stripe)


async def test_a_session_as_it_is_asked_for(pair: Pair):
    session = await pair.stripe.open_session(ORDER)
    (made,) = pair.site.sessions.values()
    assert (session.ref, session.url) == (made.id, f"{pair.site.base_url}/pay/{made.id}")
    assert (made.amount_total, made.currency, made.expires_at) == (TOTAL, "eur", ORDER.expires_at_ms // 1000)
    assert (made.success_url, made.cancel_url, made.client_reference_id) == (
        RETURN,
        RETURN,
        ORDER.checkout_id,
    )
    assert made.metadata == made.payment_metadata == {"checkoutId": ORDER.checkout_id}
    assert [line["name"] for line in made.lines] == ["A cape & more", "Überhut"]
    assert pair.site.asked == [("POST", SESSIONS, f"partyline-{ORDER.checkout_id}-0")]


async def test_the_same_attempt_finds_the_session(pair: Pair):
    first = await pair.stripe.open_session(ORDER)
    assert await pair.stripe.open_session(ORDER) == first
    assert await pair.stripe.open_session(attempt(1)) != first
    assert len(pair.site.sessions) == 2


def state(ref: str, status: str, *, paid: bool, payment_ref: str | None = None) -> SessionState:
    return SessionState(
        ref=ref,
        status=status,
        paid=paid,
        payment_ref=payment_ref,
        amount=TOTAL,
        currency="eur",  # type: ignore[arg-type]
    )


async def test_how_a_session_stands(pair: Pair):
    ref = (await pair.stripe.open_session(ORDER)).ref
    payment = f"pi_{1:024d}"
    assert await pair.stripe.read_session(ref) == state(ref, "open", paid=False)
    pair.site.pay(ref, delayed=True)
    assert await pair.stripe.read_session(ref) == state(ref, "complete", paid=False, payment_ref=payment)
    pair.site.settle(ref)
    assert await pair.stripe.read_session(ref) == state(ref, "complete", paid=True, payment_ref=payment)


async def test_ending_a_session(pair: Pair):
    """Again is without effect; of one that was paid meanwhile the payment is told."""
    ref = (await pair.stripe.open_session(ORDER)).ref
    for _ in range(2):
        assert await pair.stripe.expire_session(ref) == state(ref, "expired", paid=False)
    ref = (await pair.stripe.open_session(attempt(1))).ref
    pair.site.pay(ref)
    assert await pair.stripe.expire_session(ref) == state(
        ref, "complete", paid=True, payment_ref=f"pi_{2:024d}"
    )


async def test_a_free_session_counts_as_paid(pair: Pair):
    """Where a discount at Stripe leaves nothing to pay, there is no payment either."""
    ref = (await pair.stripe.open_session(ORDER)).ref
    made = pair.site.sessions[ref]
    made.status, made.payment_status, made.amount_total = "complete", "no_payment_required", 0
    found = await pair.stripe.read_session(ref)
    assert (found.paid, found.amount, found.payment_ref) == (True, 0, None)


Ask = Callable[[Stripe, str], Awaitable[object]]
ASKS: dict[str, Ask] = {
    "open": lambda stripe, _ref: stripe.open_session(attempt(7)),
    "expire": lambda stripe, ref: stripe.expire_session(ref),
    "read": lambda stripe, ref: stripe.read_session(ref),
}
AWAY = {
    "409": False, "429": False, "500": True, "503": True, "dropped": False, "cut": False, "endless": False,
    "encoded": False, "redirect": False, "html": False, "deep": False, "latin": False,
}  # fmt: skip


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(("fault", "answered"), AWAY.items())
async def test_when_stripe_is_away(pair: Pair, ask: str, fault: str, answered: bool):
    """It is asked once, its redirect is not followed, and what comes does not stand in the error."""
    ref = (await pair.stripe.open_session(ORDER)).ref
    before = len(pair.site.asked)
    pair.site.faults.add(fault)
    with pytest.raises(ProviderAway) as away:
        await ASKS[ask](pair.stripe, ref)
    assert away.value.answered is answered
    assert len(pair.site.asked) == before + 1
    assert str(away.value) in {"the payment provider failed", "the payment provider did not answer"}


@pytest.mark.parametrize("ask", ["open", "read"])
@pytest.mark.parametrize("fault", ["400", "402"])
async def test_when_stripe_refuses(pair: Pair, ask: str, fault: str):
    ref = (await pair.stripe.open_session(ORDER)).ref
    pair.site.faults.add(fault)
    with pytest.raises(ProviderRefused, match=f"Stripe refuses with status {fault}"):
        await ASKS[ask](pair.stripe, ref)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"lines": ()}, "parameter_missing"),
        ({"lines": (SessionLine("x", 1, 49),)}, "amount_too_small"),
        ({"lines": (SessionLine("x", 99_999_999, 2),)}, "amount_too_large"),
        ({"success_url": "javascript:x"}, "url_invalid"),
        ({"expires_at_ms": ORDER.expires_at_ms - 31 * 60_000}, "parameter_invalid"),
        ({"expires_at_ms": ORDER.expires_at_ms + 24 * 3_600_000}, "parameter_invalid"),
    ],
)
async def test_orders_that_stripe_refuses(pair: Pair, change: dict[str, object], code: str):
    with pytest.raises(ProviderRefused, match=rf"status 400 \({code}\)"):
        await pair.stripe.open_session(replace(ORDER, **change))
    assert pair.site.sessions == {}


async def test_a_stored_failure_ends_with_the_next_attempt(pair: Pair):
    """Stripe repeats its own failure under the same key."""
    pair.site.faults.add("500", on=CREATE)
    for _ in range(3):
        with pytest.raises(ProviderAway) as away:
            await pair.stripe.open_session(ORDER)
        assert away.value.answered
    assert pair.site.sessions == {}
    assert (await pair.stripe.open_session(attempt(1))).ref in pair.site.sessions


@pytest.mark.parametrize("fault", ["dropped", "cut", "endless", "encoded", "redirect", "html", "409", "429"])
async def test_a_lost_answer_is_found_by_the_same_attempt(pair: Pair, fault: str):
    pair.site.faults.add(fault, on=CREATE)
    with pytest.raises(ProviderAway) as away:
        await pair.stripe.open_session(ORDER)
    assert not away.value.answered
    session = await pair.stripe.open_session(ORDER)
    assert list(pair.site.sessions) == [session.ref]


async def test_a_changed_order_needs_the_next_attempt(pair: Pair):
    """Such as after a product got another name between two tries."""
    await pair.stripe.open_session(ORDER)
    renamed = replace(ORDER, lines=(SessionLine("Another name", 499, 2), *ORDER.lines[1:]))
    with pytest.raises(ProviderAway) as away:
        await pair.stripe.open_session(renamed)
    assert away.value.answered
    assert (await pair.stripe.open_session(replace(renamed, attempt=1))).ref in pair.site.sessions


async def test_a_stripe_that_never_answers():
    async with stripe_site() as site, stripe_client(site, seconds=0.1) as stripe:
        site.faults.add("never")
        with pytest.raises(ProviderAway) as away:
            await stripe.open_session(ORDER)
        assert not away.value.answered


async def test_a_held_answer_arrives(pair: Pair):
    held = pair.site.faults.add("held", on=CREATE)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pair.stripe.open_session, ORDER)
        with patience():
            await held.reached.wait()
        assert len(pair.site.sessions) == 1
        pair.site.faults.release()


async def test_a_wrong_key_stays_out_of_the_error(capfd: pytest.CaptureFixture[str]):
    """Stripe's own error repeats it."""
    async with stripe_site() as site, stripe_client(site, key=f"{CANARY}x") as stripe:
        for ask in ASKS.values():
            with pytest.raises(ProviderRefused, match=r"status 401 \(no code\)") as refused:
                await ask(stripe, "cs_test_1")
            assert CANARY not in repr(refused.value)
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.parametrize("ref", ["", ".", "..", "a/b", "a?b", "a#b", "%2e", "a b", "ä", "x" * 256, "cs_1\n"])
async def test_names_of_sessions_that_are_never_sent(pair: Pair, ref: str):
    for ask in ("expire", "read"):
        with pytest.raises(ProviderRefused, match="not the name of a session"):
            await ASKS[ask](pair.stripe, ref)
    assert pair.site.asked == []


async def test_a_session_that_stripe_does_not_know(pair: Pair):
    for ask in ("expire", "read"):
        with pytest.raises(ProviderRefused, match=r"status 404 \(resource_missing\)"):
            await ASKS[ask](pair.stripe, "cs_test_9")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "",
        "ftp://a/b",
        "//evil",
        "https://",
        "https://a/\r\n",
        "https://ä/",
        "https://a b",
        "https://" + "a" * 4001,
    ],
)
async def test_pages_that_are_not_passed_on(pair: Pair, url: str):
    pair.site.page = url
    with pytest.raises(ProviderAway) as away:
        await pair.stripe.open_session(ORDER)
    assert not away.value.answered


@pytest.mark.parametrize(
    ("key", "live"),
    [
        ("sk_live_x", True),
        ("rk_live_x", True),
        ("sk_test_x", False),
        ("rk_test_x", False),
        ("x", None),
        ("xsk_livex", None),
    ],
)
def test_the_mode_of_a_key(key: str, live: bool | None):
    assert is_live(key) is live
