"""News and the shop: what an editor writes and readers vote on, what is bought and paid."""

from scripts.soaking.asking import Asker
from scripts.soaking.deeds.deed import Deed, reading
from scripts.soaking.scene import Scene

NEWS = "/v1/news"
PRODUCTS, PURCHASES = "/v1/admin/shop/products", "/v1/admin/shop/purchases"
ARTICLES_KEPT = 8
PRODUCTS_WANTED = 4


async def write_article(scene: Scene, asker: Asker) -> None:
    """An article with a poll; the oldest of the newest eight goes to the archive."""
    poll = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]}
    body = {
        "scope": {"type": "global"},
        "title": f"Soak {scene.rng.randrange(1_000_000)}",
        "body": "Some *text*.\n\n" * 20,
        "status": "published",
        "poll": poll,
    }
    made = await asker.ask("publishing/write news", "POST", NEWS, scene.root.token, body)
    scene.articles.append((made["id"], [option["id"] for option in made["poll"]["options"]]))
    if len(scene.articles) > ARTICLES_KEPT:
        old, _ = scene.articles.pop(0)
        await asker.ask(
            "publishing/archive news", "PATCH", f"{NEWS}/{old}", scene.root.token, {"status": "archived"}
        )


async def vote(scene: Scene, asker: Asker) -> None:
    """A reader votes on an article."""
    if scene.articles:
        article, options = scene.rng.choice(scene.articles)
        body = {"optionIds": [scene.rng.choice(options)]}
        await asker.ask(
            "publishing/vote on news", "POST", f"{NEWS}/{article}/poll/vote", scene.someone().token, body
        )


async def buy(scene: Scene, asker: Asker) -> None:
    """Something is bought, and marked as paid by an admin, who sees to it that there is something on sale."""
    if len(scene.products) < PRODUCTS_WANTED:
        number = len(scene.products)
        body = {
            "slug": f"glow-{scene.rng.randrange(1_000_000)}",
            "name": f"Glow {number}",
            "kind": "permission",
            "price": {"amount": 500, "currency": "EUR"},
            "grants": [{"node": f"perk:glow-{number}", "expiresInDays": 30}],
        }
        made = await asker.ask("publishing/product", "POST", PRODUCTS, scene.root.token, body)
        scene.products.append(made["id"])
    items = {"items": [{"productId": scene.rng.choice(scene.products), "quantity": 1}]}
    order = await asker.ask("publishing/checkout", "POST", "/v1/shop/checkout", scene.someone().token, items)
    for purchase in order["purchases"]:
        await asker.ask(
            "publishing/mark paid", "POST", f"{PURCHASES}/{purchase['id']}/mark-paid", scene.root.token, {}
        )


PUBLISHING = (
    Deed(1, write_article),
    Deed(2, vote),
    Deed(3, reading("publishing/feed", f"{NEWS}/feed")),
    Deed(1, reading("publishing/public news", "/v1/public/news")),
    Deed(1, reading("publishing/rss", "/v1/public/news/rss")),
    Deed(1, buy),
    Deed(2, reading("publishing/shop", "/v1/shop/catalog")),
    Deed(1, reading("publishing/purchases", "/v1/shop/purchases")),
)
