"""Tokens for media nodes: JSON Web Tokens with the grants of LiveKit, which any node can verify.

LiveKit takes a token without `canPublish` and `canSubscribe` for one with both, and one without `canPublishData` for
one with it; `canPublishSources`, where it is set, supersedes `canPublish`. So all of them are said.
"""

from collections.abc import Mapping

from actors.voice.state import SESSION_MS, Session, State


def claims_of(state: State, session: Session, issuer: str) -> Mapping[str, object]:
    """The claims of the token with which a user joins the channel's room on its node: the same for the same session and
    state.

    Args:
        state: the channel; users who are muted there may not publish.
        session: the user's session.
        issuer: the name of the key that signs the token.
    """
    muted = session.user_id in state.control.muted_ids
    video: dict[str, object] = {
        "room": state.id,
        "roomJoin": True,
        "canPublish": not muted,
        "canSubscribe": True,
        "canPublishData": False,
    }
    if not muted:
        video["canPublishSources"] = ["microphone"]
    issued_at_s = session.issued_at_ms // 1000
    removal = state.removals.get(session.user_id)
    return {
        "iss": issuer,
        "sub": session.user_id,
        "name": session.name,
        # Younger than what a removal has voided, though it may be of the same second.
        "nbf": issued_at_s if removal is None else max(issued_at_s, removal.not_before_s),
        "exp": expires_at_ms(session) // 1000,
        "video": video,
    }


def expires_at_ms(session: Session) -> int:
    """When the session's newest token ends, epoch milliseconds."""
    return session.issued_at_ms + SESSION_MS
