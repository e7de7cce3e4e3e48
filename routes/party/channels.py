"""The channel `party` of `/v1/social/live`: the party that the user is in at the time. Its offsets are durable.

| snapshot      | events in delta mode                                                                        |
|---------------|---------------------------------------------------------------------------------------------|
| PartySnapshot | party_updated, one for each revision; without an offset if only a member's presence changed |

An event's `data` is a PartySnapshot too. When the user changes parties, or one of their invites is added or removed,
the epoch changes, and a snapshot follows in either mode.
"""

from actors.party.public import PartySnapshot
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel, the_user
from routes.party.parts import PARTY_KINDS

PARTY = LiveChannel(
    name="party",
    shown=lambda service: service.of(PARTY_KINDS).own,
    viewer=the_user,
    by_default=True,
    shows=Shown(
        says="The party that the user is in at the time, and their invites. Offsets are durable; when the user changes"
        " parties, or one of the invites is added or removed, a snapshot of another epoch follows in either mode.",
        snapshot=PartySnapshot,
        events={"party_updated": PartySnapshot},
    ),
)
