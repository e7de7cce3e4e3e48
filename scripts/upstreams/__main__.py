"""`scripts/upstream`: the servers of others on this machine, to try the service without internet."""

import argparse
import signal
import sys

import trio

from scripts.upstreams import curseforge, discord, sites
from scripts.upstreams.curseforge import CurseForgeSite
from scripts.upstreams.modrinth import ModrinthSite
from scripts.upstreams.stripe import KEY, WEBHOOK_SECRET, StripeSite

EXPIRE_SECONDS = 1.0


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/upstream",
        description=(
            "Servers of others, on this machine: Stripe, with a page to pay on and signed webhooks; Modrinth and "
            "CurseForge, with some mods; Discord, with a webhook."
        ),
        epilog=f"{sites.__doc__}\n{discord.__doc__}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    it.add_argument("--port", type=_port, default=8090, help="of the loopback (default %(default)s; 0: any)")
    it.add_argument(
        "--webhooks",
        default="http://127.0.0.1:8080/v1/shop/webhooks",
        metavar="URL",
        help="where Stripe's events are sent (default %(default)s)",
    )
    it.add_argument("--webhook-secret", default=WEBHOOK_SECRET, help="signs them (default %(default)s)")
    it.add_argument(
        "--curseforge-key", default=curseforge.KEY, help="the key that CurseForge takes (default %(default)s)"
    )
    it.add_argument("--key", default=KEY, help="the secret key that Stripe takes (default %(default)s)")
    return it


def _port(text: str) -> int:
    # The system would take another one, without a word: the rest of a division by 65,536.
    if not (text.isdecimal() and len(text) < 6 and int(text) < 65_536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port, which is 0 to 65535")
    return int(text)


async def run(options: argparse.Namespace) -> None:
    """Serve until stopped."""
    stripe = StripeSite(key=options.key, webhook_url=options.webhooks, webhook_secret=options.webhook_secret)
    modrinth = ModrinthSite()
    mods = CurseForgeSite(key=options.curseforge_key)
    guild = discord.DiscordSite()
    named: dict[str, sites.Site] = {
        "stripe": stripe,
        "modrinth": modrinth,
        "curseforge": mods,
        "discord": guild,
    }
    served = sites.Sites(named, options.port)
    async with trio.open_nursery() as nursery:
        await nursery.start(served.serve)
        for webhook in guild.webhooks.values():
            print(f"A webhook of guild {webhook.guild_id}: {guild.url(webhook)}")
        print("Start the service with")
        print(f"  PARTYLINE_DISCORD_URL={guild.base_url}")
        print("  PARTYLINE_SHOP_PROVIDER=stripe")
        print(f"  PARTYLINE_MODRINTH_URL={modrinth.api_url}")
        print(f"  PARTYLINE_CURSEFORGE_URL={mods.api_url}")
        print(f"  PARTYLINE_CURSEFORGE_KEY='{options.curseforge_key}'")
        print(f"  PARTYLINE_STRIPE_URL={stripe.base_url}")
        print(f"  PARTYLINE_STRIPE_KEY={options.key}")
        print(f"  PARTYLINE_SHOP_WEBHOOK_SECRET={options.webhook_secret}", flush=True)
        while True:
            await trio.sleep(EXPIRE_SECONDS)
            stripe.expire_due()


def main() -> int:
    """Run the command line."""
    options = parser().parse_args()
    status = 0
    try:
        trio.run(run, options)
    except* KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except* OSError as group:
        print(f"scripts/upstream: {group.exceptions[0]}", file=sys.stderr)
        status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
