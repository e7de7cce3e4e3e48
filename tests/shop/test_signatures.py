"""Signatures of webhooks: what the senders' own libraries sign is taken, and nothing else."""

import base64
import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook
from stripe import WebhookSignature

from routes.edge.faults import OperatorFault
from routes.shop.signatures import SECRETS_MAX, SIGNATURES_MAX, Secrets, Signed, parse_secrets, verify
from scripts.upstreams.signing import standard_headers, stripe_signature

Headers: TypeAlias = list[tuple[bytes, bytes]]

NOW = 1_795_500_000
STRIPE = "whsec_" + "Ab3" * 10 + "xY"
STANDARD = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
BODY = '{\n  "id": "evt_1",\n  "text": "Grüße"\n}'
ID = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"
SECRETS = parse_secrets(f"{STRIPE}, {STANDARD}")


def of_stripe(*, at: int = NOW, secret: str = STRIPE, body: str = BODY) -> Headers:
    """As Stripe's own library signs."""
    value = WebhookSignature.generate_signature_header(body, secret, timestamp=at)
    return [(b"stripe-signature", value.encode())]


def of_standard(*, at: int = NOW, secret: str = STANDARD, body: str = BODY, id: str = ID) -> Headers:
    """As the library of Standard Webhooks signs."""
    signature = Webhook(secret).sign(id, datetime.fromtimestamp(at, UTC), body)
    return [
        (b"webhook-id", id.encode()),
        (b"webhook-timestamp", str(at).encode()),
        (b"webhook-signature", signature.encode()),
    ]


def verified(headers: Headers, body: bytes = BODY.encode(), secrets: Secrets = SECRETS) -> Signed | None:
    return verify(headers, body, secrets, NOW)


def put(headers: Headers, name: bytes, value: bytes) -> Headers:
    return [(known, value if known == name else old) for known, old in headers]


def value(headers: Headers, name: bytes) -> bytes:
    (found,) = [old for known, old in headers if known == name]
    return found


@pytest.mark.parametrize("at", [NOW, NOW - 300, NOW + 300])
def test_what_the_official_libraries_sign(at: int):
    assert verified(of_stripe(at=at)) == Signed("stripe", None)
    assert verified(of_standard(at=at)) == Signed("standard", ID)


def test_ours_for_tests_sign_the_same():
    body = BODY.encode()
    assert stripe_signature(STRIPE, body, NOW).encode() == value(of_stripe(), b"stripe-signature")
    ours = standard_headers(STANDARD, ID, body, NOW)
    assert ours == {name.decode(): text.decode() for name, text in of_standard()}


S, SIGNATURES = b"stripe-signature", b"webhook-signature"
OF_STRIPE, OF_STANDARD = value(of_stripe(), S), value(of_standard(), SIGNATURES)
V1 = OF_STRIPE.partition(b"v1=")[2]
STRANGE = b"v1=" + b"0" * 64

TAKEN: dict[str, Headers] = {
    "stripe: the second of two signatures": [(S, b"t=%d,%b,v1=%b" % (NOW, STRANGE, V1))],
    "stripe: the first of two signatures": [(S, b"t=%d,v1=%b,%b" % (NOW, V1, STRANGE))],
    "stripe: another scheme beside": [(S, b"t=%d,v0=%b,v1=%b" % (NOW, b"0" * 64, V1))],
    "stripe: the time at the end": [(S, b"v1=%b,t=%d" % (V1, NOW))],
    "stripe: the other secret": of_stripe(secret=STANDARD),
    "stripe: and a broken one of the other family": [*of_stripe(), (b"webhook-id", b"x")],
    "stripe: most signatures": [(S, b"t=%d,v1=%b" % (NOW, V1) + (b"," + STRANGE) * (SIGNATURES_MAX - 2))],
    "standard: the second of two": put(of_standard(), SIGNATURES, b"v1," + b"A" * 43 + b"= " + OF_STANDARD),
    "standard: v1a beside": put(of_standard(), SIGNATURES, b"v1a,AAAA " + OF_STANDARD),
    "standard: the other secret": of_standard(secret=STRIPE),
    "standard: headers in another order": of_standard()[::-1],
}


@pytest.mark.parametrize("headers", TAKEN.values(), ids=TAKEN.keys())
def test_what_is_taken(headers: Headers):
    assert verified(headers) is not None


def signed_by_hand(key: bytes, text: str) -> bytes:
    return base64.b64encode(hmac.digest(key, text.encode(), "sha256"))


FORGED: dict[str, Headers] = {
    "nothing": [],
    # Stripe
    "stripe: empty": [(S, b"")],
    "stripe: wrong secret": of_stripe(secret=OTHER),
    "stripe: secret without its prefix": of_stripe(secret=STRIPE.removeprefix("whsec_")),
    "stripe: empty secret": of_stripe(secret=""),
    "stripe: of another body": of_stripe(body=BODY + " "),
    "stripe: a second too old": of_stripe(at=NOW - 301),
    "stripe: a second too new": of_stripe(at=NOW + 301),
    "stripe: of long ago": of_stripe(at=0),
    "stripe: time set anew": [(S, OF_STRIPE.replace(b"%d" % NOW, b"%d" % (NOW + 1)))],
    "stripe: time with a zero": [(S, OF_STRIPE.replace(b"t=", b"t=0"))],
    "stripe: time with a sign": [(S, OF_STRIPE.replace(b"t=", b"t=+"))],
    "stripe: time as a fraction": [(S, OF_STRIPE.replace(b",", b".0,"))],
    "stripe: time with a space": [(S, OF_STRIPE.replace(b"t=", b"t= "))],
    "stripe: time of 13 digits": [(S, OF_STRIPE.replace(b"%d" % NOW, b"%d000" % NOW))],
    "stripe: time of 5,000 digits": [(S, b"t=" + b"9" * 5000 + b",v1=" + V1)],
    "stripe: time in other digits": [(S, "t=١٢٣,v1=".encode() + V1)],
    "stripe: no time": [(S, b"v1=" + V1)],
    "stripe: two times, the right one first": [(S, b"t=%d,t=%d,v1=%b" % (NOW, NOW - 999, V1))],
    "stripe: two times, the right one last": [(S, b"t=%d,t=%d,v1=%b" % (NOW - 999, NOW, V1))],
    "stripe: no signature": [(S, b"t=%d" % NOW)],
    "stripe: empty signature": [(S, b"t=%d,v1=" % NOW)],
    "stripe: only another scheme": [(S, OF_STRIPE.replace(b"v1", b"v0"))],
    "stripe: a longer name of the scheme": [(S, OF_STRIPE.replace(b"v1", b"v1a"))],
    "stripe: capitals": [(S, OF_STRIPE.upper().replace(b"V1=", b"v1=").replace(b"T=", b"t="))],
    "stripe: cut": [(S, OF_STRIPE[:-1])],
    "stripe: cut to half": [(S, OF_STRIPE[:-32])],
    "stripe: longer": [(S, OF_STRIPE + b"0")],
    "stripe: one bit": [(S, OF_STRIPE[:-1] + bytes([OF_STRIPE[-1] ^ 1]))],
    "stripe: in base64": [(S, b"t=%d,v1=%b" % (NOW, base64.b64encode(bytes.fromhex(V1.decode()))))],
    "stripe: spaces between": [(S, OF_STRIPE.replace(b",", b", "))],
    "stripe: semicolons between": [(S, OF_STRIPE.replace(b",", b";"))],
    "stripe: header twice": of_stripe() * 2,
    "stripe: a second header": [*of_stripe(), (S, b"x")],
    "stripe: a header too long": [(S, OF_STRIPE + b",v0=" + b"0" * 4096)],
    "stripe: signatures without end": [(S, b"t=%d,v1=%b" % (NOW, V1) + (b"," + STRANGE) * SIGNATURES_MAX)],
    "stripe: not ASCII": [(S, OF_STRIPE + b",v0=\xff")],
    "stripe: wrong, beside a good one of the other family": [(S, b"t=%d,v1=0" % NOW), *of_standard()],
    "stripe: the other family's signature": [(S, OF_STANDARD)],
    "stripe: the other family's key": [
        (S, b"t=%d,v1=" % NOW + base64.b64decode(signed_by_hand(bytes(range(32)), f"{NOW}.{BODY}")).hex().encode())
    ],
    # Standard Webhooks
    "standard: wrong secret": of_standard(secret=OTHER),
    "standard: the text of the secret as key": put(
        of_standard(), SIGNATURES, b"v1," + signed_by_hand(STANDARD.encode(), f"{ID}.{NOW}.{BODY}")
    ),
    "standard: of another body": of_standard(body=BODY.replace("\n", "")),
    "standard: a second too old": of_standard(at=NOW - 301),
    "standard: a second too new": of_standard(at=NOW + 301),
    "standard: another id": put(of_standard(), b"webhook-id", b"msg_other"),
    "standard: an id with a point": of_standard(id="msg.1"),
    "standard: a point moved from time to id": of_standard(id=f"{ID}.{NOW}"),
    "standard: an empty id": of_standard(id=""),
    "standard: an id with a space": of_standard(id="msg 1"),
    "standard: an id too long": of_standard(id="x" * 256),
    "standard: another time": put(of_standard(), b"webhook-timestamp", b"%d" % (NOW + 1)),
    "standard: time as a fraction": put(of_standard(), b"webhook-timestamp", b"%d.0" % NOW),
    "standard: time in milliseconds": put(of_standard(), b"webhook-timestamp", b"%d000" % NOW),
    "standard: another version": put(of_standard(), SIGNATURES, OF_STANDARD.replace(b"v1", b"v2")),
    "standard: asymmetric version": put(of_standard(), SIGNATURES, OF_STANDARD.replace(b"v1", b"v1a")),
    "standard: without version": put(of_standard(), SIGNATURES, OF_STANDARD.removeprefix(b"v1,")),
    "standard: commas between": put(of_standard(), SIGNATURES, b"v1,AAAA," + OF_STANDARD),
    "standard: not padded": put(of_standard(), SIGNATURES, OF_STANDARD.rstrip(b"=")),
    "standard: other characters within": put(of_standard(), SIGNATURES, OF_STANDARD[:9] + b"*" + OF_STANDARD[9:]),
    "standard: in hex": put(of_standard(), SIGNATURES, b"v1," + base64.b64decode(OF_STANDARD[3:]).hex().encode()),
    "standard: empty": put(of_standard(), SIGNATURES, b""),
    "standard: signatures without end": put(
        of_standard(), SIGNATURES, OF_STANDARD + (b" v1," + b"A" * 43 + b"=") * SIGNATURES_MAX
    ),
    "standard: header too long": put(of_standard(), SIGNATURES, OF_STANDARD + b" " + b"A" * 4096),
    "standard: no id": of_standard()[1:],
    "standard: no time": [of_standard()[0], of_standard()[2]],
    "standard: no signature": of_standard()[:2],
    "standard: id twice": [of_standard()[0], *of_standard()],
    "standard: time twice": [of_standard()[1], *of_standard()],
    "standard: signature twice": [of_standard()[2], *of_standard()],
    "standard: Stripe's form": put(of_standard(), SIGNATURES, OF_STRIPE),
}  # fmt: skip


@pytest.mark.parametrize("headers", FORGED.values(), ids=FORGED.keys())
def test_a_forged_signature_verifies_nothing(headers: Headers):
    assert verified(headers) is None


REWRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "a byte changed": lambda body: body.replace(b"evt_1", b"evt_2"),
    "a byte more": lambda body: body + b"\n",
    "a byte less": lambda body: body[:-1],
    "a BOM": lambda body: b"\xef\xbb\xbf" + body,
    "other line ends": lambda body: body.replace(b"\n", b"\r\n"),
    "without white space": lambda body: body.replace(b"\n", b"").replace(b"  ", b""),
    "escaped": lambda body: body.replace("ü".encode(), b"\\u00fc"),
    "another encoding": lambda body: body.decode().encode("utf-16"),
    "members in another order": lambda _: '{"text":"Grüße","id":"evt_1"}'.encode(),
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("rewrite", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_a_body_that_was_written_anew(rewrite: Callable[[bytes], bytes]):
    for headers in (of_stripe(), of_standard()):
        assert verified(headers, rewrite(BODY.encode())) is None


def test_without_secret_nothing_is_authentic():
    for text in (None, "", " , ,"):
        none = parse_secrets(text)
        assert verified(of_stripe(secret=""), secrets=none) is None
        assert verified(of_standard(), secrets=none) is None


def test_no_more_secrets_than_are_exchanged():
    parse_secrets(",".join("x" * SECRETS_MAX))
    with pytest.raises(OperatorFault, match="PARTYLINE_SHOP_WEBHOOK_SECRET") as raised:
        parse_secrets("secret," * (SECRETS_MAX + 1))
    assert "secret," not in str(raised.value)


def test_secrets_are_not_shown():
    assert "Ab3" not in repr(SECRETS)


@pytest.mark.parametrize("length", [24, 25, 63, 64])
def test_keys_of_all_lengths(length: int):
    """Padded or not, with prefix or without."""
    text = base64.b64encode(bytes(range(length))).decode()
    for secret in (f"whsec_{text}", text, f"whsec_{text.rstrip('=')}"):
        assert parse_secrets(secret).standard == (bytes(range(length)),)


@pytest.mark.parametrize(
    "secret", ["correct horse battery", "whsec_x*", "whsec_" + "A" * 28, "A" * 92, "Größe", "="]
)
def test_a_secret_that_is_no_key_counts_as_its_text(secret: str):
    assert parse_secrets(secret).standard == (secret.encode(),)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([S, b"webhook-id", b"webhook-timestamp", SIGNATURES]),
            st.one_of(
                st.binary(max_size=80), st.sampled_from([b"t=%d" % NOW, b"%d" % NOW, OF_STRIPE, OF_STANDARD])
            ),
        ),
        max_size=6,
    )
)
def test_nothing_else_is_authentic_or_a_fault(headers: Headers):
    if verified(headers) is not None:
        assert [value for name, value in headers if name == S] == [OF_STRIPE]
