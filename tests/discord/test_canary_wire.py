"""Wire: the token of a webhook is in no log, answer, error or row, and in no file of the service."""

from pathlib import Path

import pytest

from routes.logs import configure_logging
from tests.discord.play import Guild, put
from tests.news.play import write
from tests.support.canaries import Overheard, dump, found, kept_in_files
from tests.support.plain_log import log_plainly

FAULTS = ("400", "500", "429", "dropped", "cut", "html", "encoded", "redirect", "endless", "401")


async def test_the_token_is_nowhere(guild: Guild, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    world, heard = guild.world, Overheard(guild.world)
    canary, url = guild.webhook.token, guild.site.url(guild.webhook)
    configure_logging(world.service.config, least="debug")
    try:
        net = await guild.network(await world.player("Ann"))
        path = f"{net.path}/discord"
        elsewhere = {"guildId": "299999999999999999", "events": [], "webhookUrl": url}
        for fault in FAULTS:
            guild.site.faults.add(fault, on="GET")
            await net.owner.ask("PUT", path, elsewhere)
            await put(net, webhookUrl=url)
            guild.site.faults.add(fault, on="POST")
            await write(net.owner, fault, scope={"type": "network", "id": net.id})
            guild.later(60)
            await guild.drained(net)
        beyond = {**elsewhere, "webhookUrl": f"{url}?token={canary}"}
        assert (await net.owner.refused("PUT", path, beyond))[0] == 422
        cut_short = f'{{"webhookUrl": "{url}", '.encode()
        assert (await net.owner.refused("PUT", path, content=cut_short))[0] == 400
    finally:
        log_plainly()
    said = capfd.readouterr()
    assert "a post to Discord was dropped" in said.err
    assert found([canary], said.out + said.err) == []
    assert heard.saying(canary) == []
    assert found([canary], await world.service.database.read(dump)) == []
    assert not any(found([canary], text) for text in kept_in_files(tmp_path))
