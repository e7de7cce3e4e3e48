"""What is open of addresses while the service runs."""

import trio

from actors.ip.addresses import Places
from routes.part import Opening, Part


async def _open(opening: Opening) -> Places:
    places = Places(opening.config.geoip_db, opening.config.data_dir)
    opening.stack.callback(places.close)
    await places.refresh(trio.to_thread.run_sync)
    return places


PLACES = Part(name="places of addresses", open=_open)
"""Where addresses are."""
