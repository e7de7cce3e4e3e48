"""What is made and kept: capes, totems, banners, goods, releases, news, what launchers may reach."""

import hashlib
from typing import Any

from tests.banners.play import BANNERS, DESIGN
from tests.capes.stage import ADMIN, OWN, PUBLIC, SELECTION, TERMS, texture
from tests.news.play import FOLLOWS, GLOBAL, NEWS, POLL
from tests.process.kept.people import MOST
from tests.process.kept.stage import Stage
from tests.process.kept.writer import Deed, Stands, Writer
from tests.shop.play import A_PRODUCT, ALL_PURCHASES, CHECKOUT, PRODUCTS, PURCHASES
from tests.support.world import Player
from tests.totems.models import body as totem_body
from tests.totems.models import item_model
from tests.totems.play import OWN as TOTEM
from tests.versions.play import CHANNELS, FILE, RELEASES, SCOPE


async def capes(stage: Stage) -> Writer:
    """Capes from the drawing to the wardrobe, and what moderators make of them."""
    ann, mod = await stage.player("Cap"), await stage.ranked("Cam", "moderator")
    await ann.do("POST", f"{TERMS}/accept")
    writer = Writer("capes", stage)
    for path in (OWN, SELECTION):
        writer.page(ann, path)
    stands = Stands(stage.rng)

    @writer.deed
    def upload() -> Deed | None:
        if len(stands.of) >= MOST:
            return None
        word = stage.word()

        def then(made: Any) -> None:
            stands.of[made["id"]] = "draft"
            for file in ("texture.png", "preview.png"):
                writer.page(ann, f"{PUBLIC}/{made['id']}/{file}")

        body = {"name": word, "description": "", "texture": texture(stage.rng.randrange(256))}
        return Deed(ann, "POST", OWN, body, shows=(word,), then=then)

    @writer.deed
    def change() -> Deed | None:
        if (id := stands.any("draft")) is None:
            return None
        word = stage.word()
        body = {"name": word, "texture": texture(stage.rng.randrange(256))}
        return Deed(ann, "PATCH", f"{OWN}/{id}", body, shows=(word,))

    @writer.deed
    def submit() -> Deed | None:
        if (id := stands.any("draft")) is None:
            return None
        return Deed(ann, "POST", f"{OWN}/{id}/submit", then=stands.move(id, "pending"))

    @writer.deed
    def judge() -> Deed | None:
        if (id := stands.any("pending")) is None:
            return None
        verdict = stage.rng.choice(("approved", "blocked"))
        return Deed(mod, "PATCH", f"{ADMIN}/{id}", {"status": verdict}, then=stands.move(id, verdict))

    @writer.deed
    def wear() -> Deed | None:
        if (id := stands.any("approved")) is None:
            return None
        return Deed(ann, "PUT", SELECTION, {"source": "native", "capeId": id}, shows=(id,))

    @writer.deed
    def remove() -> Deed | None:
        if (id := stands.any("draft", "approved")) is None:
            return None
        del stands.of[id]
        return Deed(ann, "DELETE", f"{OWN}/{id}")

    return writer


async def drawn(stage: Stage) -> Writer:
    """Totems and banners."""
    ann = await stage.player("Tom")
    writer = Writer("totems and banners", stage)
    for path in (TOTEM, f"{TOTEM}/history", BANNERS):
        writer.page(ann, path)
    banners: list[str] = []

    @writer.deed
    def upload() -> Deed:
        model = item_model(
            display={"gui": {"rotation": [0, stage.rng.randrange(180), 0], "scale": [1, 1, 1]}}
        )

        def then(made: Any) -> None:
            writer.page(ann, f"{TOTEM}/model/{made['itemModelId']}")
            writer.page(stage.nobody(), f"/v1/public/totems/{made['itemModelId']}")

        return Deed(ann, "POST", TOTEM, totem_body(model), then=then)

    @writer.deed
    def draw() -> Deed | None:
        if len(banners) >= MOST:
            return None
        word = stage.word()

        def then(made: Any) -> None:
            banners.append(made["id"])
            writer.page(ann, f"/v1/public/banners/{made['id']}/image.png")

        return Deed(ann, "POST", BANNERS, {**DESIGN, "name": word}, shows=(word,), then=then)

    @writer.deed
    def remove() -> Deed | None:
        if not banners:
            return None
        id = banners.pop(0)
        writer.no_page(ann, f"/v1/public/banners/{id}/image.png")
        return Deed(ann, "DELETE", f"{BANNERS}/{id}", hides=(id,))

    return writer


async def shop(stage: Stage) -> Writer:
    """Products, checkouts, payments, refunds."""
    manager, ann = await stage.players("Mona", "Bea")
    await stage.grant(manager, "shop:manage")
    writer = Writer("shop", stage)
    for player, path in (
        (manager, PRODUCTS),
        (manager, ALL_PURCHASES),
        (ann, PURCHASES),
        (ann, "/v1/auth/verify"),
    ):
        writer.page(player, path)
    products: list[str] = []
    unpaid: list[str] = []
    paid: list[str] = []

    @writer.deed
    def offer() -> Deed | None:
        if len(products) >= 2 * MOST:
            return None
        word = stage.word()
        body = A_PRODUCT | {"slug": word, "name": word, "grants": [{"node": f"perk:{word}"}]}
        then = lambda made: products.append(made["id"])  # noqa: E731
        return Deed(manager, "POST", PRODUCTS, body, shows=(word,), then=then)

    @writer.deed
    def order() -> Deed | None:
        if not products or len(unpaid) >= 4:
            return None

        def then(made: Any) -> None:
            unpaid.append(made["purchases"][0]["id"])

        return Deed(ann, "POST", CHECKOUT, {"items": [{"productId": products.pop(0)}]}, then=then)

    @writer.deed
    def pay() -> Deed | None:
        if not unpaid:
            return None
        word, id = stage.word(), unpaid.pop(0)
        then = lambda _made: paid.append(id)  # noqa: E731
        return Deed(manager, "POST", f"{ALL_PURCHASES}/{id}/mark-paid", {"providerRef": word}, then=then)

    @writer.deed
    def refund() -> Deed | None:
        return Deed(manager, "POST", f"{ALL_PURCHASES}/{paid.pop(0)}/refund") if paid else None

    return writer


async def versions(stage: Stage) -> Writer:
    """Releases with files that lie with us, and the channels that point to them."""
    pia = await stage.player("Publisher")
    for node in ("versions:write", "versions:publish", "versions:track"):
        await stage.grant(pia, node)
    writer = Writer("versions", stage)
    writer.page(pia, RELEASES)
    writer.page(pia, CHANNELS)
    drafts: list[Any] = []
    full: list[str] = []
    contents: dict[str, bytes] = {}

    @writer.deed
    def draft() -> Deed | None:
        if len(drafts) >= MOST:
            return None
        data = stage.rng.randbytes(40_000)
        sha256 = hashlib.sha256(data).hexdigest()
        contents[sha256] = data
        version = f"1.0.{stage.word('')[:-1].lstrip('0')}"
        file = {**FILE, "url": None, "sizeBytes": len(data), "sha256": sha256}
        body = {"scope": SCOPE, "version": version, "artifacts": [file]}
        return Deed(pia, "POST", RELEASES, body, shows=(sha256,), then=drafts.append)

    @writer.deed
    def fill() -> Deed | None:
        if not drafts:
            return None
        release = drafts.pop(0)
        (artifact,) = release["artifacts"]
        path = f"{RELEASES}/{release['releaseId']}/artifacts/{artifact['artifactId']}/content"
        then = lambda _made: full.append(release["releaseId"])  # noqa: E731
        content = contents[artifact["sha256"]]
        headers = {"content-type": "application/octet-stream"}
        return Deed(pia, "PUT", path, content, then=then, headers=headers)

    @writer.deed
    def activate() -> Deed | None:
        if not full:
            return None
        id = full[-1]
        body = {"scopeType": SCOPE["type"], "scopeId": SCOPE["id"], "channel": "stable", "releaseId": id}

        def then(_made: Any) -> None:
            full.clear()
            writer.page(
                stage.nobody(), f"/v1/public/versions/download?releaseId={id}&platform=windows&arch=x64"
            )

        return Deed(pia, "POST", CHANNELS, body, then=then, shows=(id,))

    _add_drafts(writer, pia, drafts)
    return writer


def _add_drafts(writer: Writer, pia: Player, drafts: list[Any]) -> None:
    """What is done with a release that nobody gets yet."""

    @writer.deed
    def change() -> Deed | None:
        if not drafts:
            return None
        word = writer.stage.word()
        path = f"{RELEASES}/{drafts[0]['releaseId']}"
        return Deed(pia, "PATCH", path, {"notes": word}, shows=(word,))

    @writer.deed
    def remove() -> Deed | None:
        if not drafts:
            return None
        id = drafts.pop()["releaseId"]
        return Deed(pia, "DELETE", f"{RELEASES}/{id}", hides=(f'"releaseId": "{id}"',))


async def news(stage: Stage) -> Writer:
    """Articles, polls, what people follow."""
    ed, ann = await stage.players("Ed", "Ned")
    await stage.grant(ed, "news:write")
    writer = Writer("news", stage)
    for player, path in ((ed, NEWS), (ann, FOLLOWS), (ann, NEWS)):
        writer.page(player, path)
    articles: list[str] = []

    @writer.deed
    def write() -> Deed:
        word = stage.word()
        body = {"scope": GLOBAL, "title": word, "body": "text", "status": "published", "poll": POLL}
        then = lambda made: articles.append(made["id"])  # noqa: E731
        return Deed(ed, "POST", NEWS, body, shows=(word,), then=then)

    @writer.deed
    def change() -> Deed | None:
        if not articles:
            return None
        word = stage.word()
        body = {"title": word, "pinned": stage.rng.random() < 0.5}
        return Deed(ed, "PATCH", f"{NEWS}/{stage.rng.choice(articles)}", body, shows=(word,))

    @writer.deed
    def archive() -> Deed | None:
        if len(articles) < MOST:
            return None
        return Deed(ed, "PATCH", f"{NEWS}/{articles.pop(0)}", {"status": "archived"})

    @writer.deed
    def vote() -> Deed | None:
        if not articles:
            return None
        return Deed(
            ann,
            "POST",
            f"{NEWS}/{articles[-1]}/poll/vote",
            {"optionIds": [stage.rng.choice("12")]},
            idle=True,
        )

    @writer.deed
    def follow() -> Deed:
        word = stage.word()
        return Deed(ann, "PUT", FOLLOWS, {"items": [{"type": "category", "id": word}]}, shows=(word,))

    return writer


async def launcher(stage: Stage) -> Writer:
    """Reports of launchers, and the hosts that they may reach."""
    root, ann = await stage.super_admin(), await stage.player("Lana")
    writer = Writer("launcher", stage)
    writer.page(root, "/v1/public/launcher/network-guard-allowlist")
    writer.page(root, "/v1/admin/launcher/performance-reports")

    @writer.deed
    def allow() -> Deed:
        host = f"{stage.word('h')}.example.org"
        return Deed(
            root, "PUT", "/v1/admin/launcher/network-guard-allowlist", {"hosts": [host]}, shows=(host,)
        )

    @writer.deed
    def report() -> Deed:
        word = stage.word()
        return Deed(ann, "POST", "/v1/launcher/performance-reports", {"launcherVersion": word}, shows=(word,))

    return writer


THINGS = (capes, drawn, shop, versions, news, launcher)
