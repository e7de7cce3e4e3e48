"""Requests of operators, and what a browser loads."""

from scripts.soaking.asking import Asker
from scripts.soaking.deeds.deed import Deed, reading
from scripts.soaking.scene import Scene


async def note(scene: Scene, asker: Asker) -> None:
    """A moderator's note, which is removed again."""
    path = f"/v1/admin/users/{scene.someone().id}/notes"
    made = await asker.ask("operating/note", "POST", path, scene.root.token, {"text": "soaked"})
    await asker.ask("operating/remove note", "DELETE", f"{path}/{made['id']}", scene.root.token)


OPERATING = (
    Deed(1, reading("operating/console", "/app")),
    Deed(1, reading("operating/openapi", "/openapi.json")),
    Deed(1, reading("operating/health", "/health")),
    Deed(1, reading("operating/metrics", "/metrics")),
    Deed(1, reading("operating/actors", "/v1/admin/actors", by_root=True)),
    Deed(1, reading("operating/admin users", "/v1/admin/users", by_root=True)),
    Deed(1, reading("operating/audit", "/v1/admin/audit", by_root=True)),
    Deed(1, note),
)
