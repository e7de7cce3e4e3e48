"""The rows of a batch of turns of voice channels: who is in which. All else is in the heads' summaries."""

from collections.abc import Sequence

import msgspec

from actors.voice import events
from actors.voice.events import AnyEvent
from actors.voice.public import VoiceControl
from actors.voice.state import Session
from persistence.connection import Connection
from persistence.journal.turn import Turn
from persistence.users.audit import write_audit
from persistence.voice import channels
from persistence.voice.channels import SessionRow


async def persist(conn: Connection, turns: Sequence[Turn]) -> None:
    """Write the rows of all turns, inside the writer's transaction."""
    changes = Changes()
    for turn in turns:
        for event in turn.events:
            changes.take(turn.id, event)
    await changes.write(conn)


class Changes:
    """The outcome of many turns, by table."""

    def __init__(self) -> None:
        self.joined: dict[str, SessionRow] = {}  # {user id: …}
        self.changed: dict[str, SessionRow] = {}  # {session id: …}
        self.renewed: dict[str, int] = {}  # {session id: when its newest token was given}
        self.ended: dict[tuple[str, str], None] = {}  # (user id, session id)
        self.channels: list[str] = []
        self.audited: list[tuple[str, events.ControlAudited]] = []

    def take(self, channel_id: str, event: AnyEvent) -> None:
        """Add one event to the changes; call it in the order of the events."""
        match event:
            case events.Joined(session=session):
                self.joined[session.user_id] = _row(channel_id, session)
            case events.SessionsEnded():
                self.ended.update(dict.fromkeys(event.sessions.items()))
            case events.ControlChanged() | events.Moved():
                self.renewed.update(dict.fromkeys(event.renewed.values(), event.at_ms))
            case events.SessionChanged():
                self.renewed.pop(event.session_id, None)  # it says when, too
                self.changed[event.session_id] = SessionRow(
                    user_id=event.user_id,
                    session_id=event.session_id,
                    channel_id=channel_id,
                    self_mute=event.self_mute,
                    self_deaf=event.self_deaf,
                    joined_at_ms=0,
                    issued_at_ms=event.issued_at_ms,
                )
            case events.ControlAudited():
                self.audited.append((channel_id, event))
            case events.ChannelEnded():
                self.channels.append(channel_id)

    async def write(self, conn: Connection) -> None:
        """Write all changes; tables without changes are not touched."""
        if self.joined:
            await channels.put_sessions(conn, list(self.joined.values()))
        if self.changed:
            await channels.change_sessions(conn, list(self.changed.values()))
        if self.renewed:
            await channels.renew_sessions(conn, self.renewed)
        if self.ended:
            await channels.end_sessions(conn, list(self.ended))
        if self.channels:
            await channels.end(conn, self.channels)
        for channel_id, event in self.audited:
            control = event.control
            said = VoiceControl(control.locked, control.muted_ids, control.max_participants)
            detail = ControlDetail(said, event.removed_ids)
            await write_audit(
                conn,
                event.stamp,
                "voice.controlled",
                target_id=channel_id,
                detail=msgspec.json.encode(detail),
            )


class ControlDetail(msgspec.Struct, frozen=True, rename="camel"):
    """The detail that the audit trail has of a moderator's decision."""

    control: VoiceControl
    removed_ids: tuple[str, ...]


def _row(channel_id: str, session: Session) -> SessionRow:
    return SessionRow(
        user_id=session.user_id,
        session_id=session.session_id,
        channel_id=channel_id,
        self_mute=session.self_mute,
        self_deaf=session.self_deaf,
        joined_at_ms=session.joined_at_ms,
        issued_at_ms=session.issued_at_ms,
    )
