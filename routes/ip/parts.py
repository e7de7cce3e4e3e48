"""The part of geolocation: the GeoIP database."""

import trio

from actors.ip.addresses import Places
from routes.part import Opening, Part


async def _open(opening: Opening) -> Places:
    places = Places(opening.config.geoip_db, opening.config.data_dir)
    opening.stack.callback(places.close)
    await places.refresh(trio.to_thread.run_sync)
    return places


PLACES = Part(name="places of addresses", open=_open)
"""Finds the location of an address in the GeoIP database."""
