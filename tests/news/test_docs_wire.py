"""Wire: what `docs/news.md` shows is so."""

import json
import re

from tests.contract.sources import ROOT
from tests.news.play import NEWS, editor
from tests.support.world import World


async def test_the_example_answers_as_it_says(world: World) -> None:
    text = (ROOT / "docs" / "news.md").read_text(encoding="utf-8")
    request, answer = re.findall(r"```json\n(?:POST /v1/news\n)?(.*?)```", text, re.DOTALL)
    made = await (await editor(world)).do("POST", NEWS, json.loads(request), status=201)
    assert made | json.loads(answer) == made
