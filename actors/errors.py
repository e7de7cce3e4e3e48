"""Every refusal that a rule can give, one tree.

    Refused                       abstract; has a code, a sentence and a hint for the edge
    ├── NotFound                  404  no such thing, or the caller may not know of it
    │   └── ConversationNotFound  404
    ├── Forbidden                 403  a permission node or capability is missing
    │   ├── Blocked               403  a block stands between the two users
    │   ├── FriendRequestsDisabled 403 the user takes no friend requests
    │   ├── NotLeader             403  only the party's leader may do this
    │   ├── NotSelector           403  only those who select for the party may do this
    │   ├── TermsNotAccepted      403  the terms must be accepted first
    │   └── VisibilityDenied      403  this is not shown to the caller
    ├── Invalid                   422  a field breaks a rule; carries JSON pointers
    │   └── QuotaExceeded         422
    ├── Revoked                   401  the credentials of the request were revoked before it could change anything
    ├── Conflict                  409  the state table does not have this move (INVALID_STATE)
    │   ├── AlreadyFriends        409
    │   ├── CommandFinished       409
    │   ├── DomainNotVerified     409
    │   ├── NetworkInUse          409
    │   ├── NotProfilePrepared    409
    │   ├── PollClosed            409
    │   ├── RequestExists         409
    │   ├── RevisionConflict      409
    │   └── SlugTaken             409
    ├── Gone                      410  abstract: it existed, and can no longer be used
    │   ├── ClaimKeyExpired       410
    │   ├── ClaimKeyUsed          410
    │   ├── EventsExpired         410
    │   ├── InviteExpired         410
    │   ├── JoinTokenExpired      410
    │   └── JoinTokenUsed         410
    ├── TooLarge                  413  more bytes than one thing may have
    ├── Overloaded                503  a mailbox or queue is full
    │   ├── Draining              503  this process is about to stop
    │   ├── Elsewhere             503  another node of the service owns the actor
    │   └── Parked                503  the actor has failed again and again
    └── GeoipUnavailable          503  there is no GeoIP database

A refusal is always meant for the client; defects of the service are raised as other exceptions.
A `status_hint` is a hint: only the edge decides on a status code (contract §1).
"""

from typing import ClassVar

from actors.field_errors import FieldError, bounded


class Refused(Exception):
    """A rule does not allow what was asked; nothing has changed.

    Args:
        message: one sentence for people; the class's `sentence` when left out.
        meta: small facts for programs, with camelCase keys.
    """

    code: ClassVar[str]
    status_hint: ClassVar[int]
    sentence: ClassVar[str]

    def __init__(self, message: str | None = None, **meta: object) -> None:
        if type(self) is Refused:
            raise TypeError("Refused is abstract: raise one of its children")
        self.message = message or self.sentence
        self.meta = meta
        super().__init__(self.message)


class NotFound(Refused):
    """No such thing, or none that the caller may know of."""

    code, status_hint, sentence = "NOT_FOUND", 404, "not found"


class ConversationNotFound(NotFound):
    """No such conversation, or the caller is not in it: both look the same, so that ids leak nothing."""

    code, sentence = "CONVERSATION_NOT_FOUND", "conversation not found"


class Forbidden(Refused):
    """The caller is known and belongs here, but lacks a permission node or capability."""

    code, status_hint, sentence = "FORBIDDEN", 403, "you may not do this"


class Blocked(Forbidden):
    """One of the two users blocks the other."""

    code, sentence = "BLOCKED", "a block stands between you and this user"


class FriendRequestsDisabled(Forbidden):
    """The user accepts no friend requests."""

    code, sentence = "FRIEND_REQUESTS_DISABLED", "this user takes no friend requests"


class NotLeader(Forbidden):
    """The caller is in the party, but does not lead it."""

    code, sentence = "NOT_LEADER", "only the leader may do this"


class NotSelector(Forbidden):
    """The caller is in the party, but may not select for it."""

    code, sentence = "NOT_SELECTOR", "only the leader and the selectors may do this"


class TermsNotAccepted(Forbidden):
    """The caller has not accepted the present terms."""

    code, sentence = "TERMS_NOT_ACCEPTED", "accept the terms first"


class VisibilityDenied(Forbidden):
    """The user does not show this to the caller."""

    code, sentence = "VISIBILITY_DENIED", "this is shown to friends only"


class Invalid(Refused):
    """One or more fields break a rule.

    Args:
        errors: the errors of the fields, at least one.

    Attributes:
        errors: the errors that the client is told of (`bounded`).
    """

    code, status_hint, sentence = "VALIDATION_FAILED", 422, "the request is not valid"

    def __init__(self, *errors: FieldError, message: str | None = None, **meta: object) -> None:
        self.errors = bounded(errors)
        super().__init__(message or (errors[0].message if errors else None), **meta)


class QuotaExceeded(Invalid):
    """A limit of the caller or of the thing is reached.

    Args:
        errors: errors of the fields that would exceed the limit, where fields are the reason.
        max: the limit, in the unit that it counts; the client is told it as `meta.max`.
    """

    code, sentence = "QUOTA_EXCEEDED", "a limit is reached"

    def __init__(
        self,
        *errors: FieldError,
        max: int,
        message: str | None = None,
        **meta: object,
    ) -> None:
        super().__init__(*errors, message=message, max=max, **meta)


class Revoked(Refused):
    """The request's credentials were verified, but were revoked before the request had the lock on its user."""

    code, status_hint, sentence = "UNAUTHENTICATED", 401, "valid credentials are required"


class Conflict(Refused):
    """The thing is in a state that does not allow this."""

    code, status_hint, sentence = "INVALID_STATE", 409, "this is not possible in the present state"


class AlreadyFriends(Conflict):
    """The two are friends."""

    code, sentence = "ALREADY_FRIENDS", "you are friends already"


class DomainNotVerified(Conflict):
    """The network has not verified that it holds the domain."""

    code, sentence = "DOMAIN_NOT_VERIFIED", "this domain is not verified"


class NetworkInUse(Conflict):
    """Game servers are in the network.

    Args:
        servers: how many; the client is told it as `meta.servers`.
    """

    code, sentence = (
        "NETWORK_IN_USE",
        "game servers are in this network; take them out of it, or remove them, first",
    )

    def __init__(self, *, servers: int) -> None:
        super().__init__(servers=servers)


class NotProfilePrepared(Conflict):
    """The caller says that they are ready, without having prepared a profile."""

    code, sentence = "NOT_PROFILE_PREPARED", "prepare a profile before you are ready"


class CommandFinished(Conflict):
    """The command has already ended, and differently from what the caller says."""

    code, sentence = "COMMAND_FINISHED", "this command is finished"


class PollClosed(Conflict):
    """The poll takes no more votes."""

    code, sentence = "POLL_CLOSED", "the poll is closed"


class RequestExists(Conflict):
    """The caller has sent this request already."""

    code, sentence = "REQUEST_EXISTS", "you have sent a request already"


class RevisionConflict(Conflict):
    """The caller has worked on a version that has been replaced since."""

    code, sentence = "REVISION_CONFLICT", "this has changed since; look again"


class SlugTaken(Conflict):
    """Another thing of this sort (a network, a product, an article of the same scope) has this slug."""

    code, sentence = "SLUG_TAKEN", "this slug is taken"


class Gone(Refused):
    """The thing existed, and can no longer be used. Has no code of its own: raise one of its children."""

    status_hint = 410


class ClaimKeyExpired(Gone):
    """The claim key is no longer valid: five minutes have passed, or newer keys have replaced it."""

    code, sentence = "CLAIM_KEY_EXPIRED", "this claim key has expired; let the server show a new one"


class ClaimKeyUsed(Gone):
    """The server of this claim key is claimed already."""

    code, sentence = "CLAIM_KEY_USED", "this claim key was used"


class EventsExpired(Gone):
    """The events asked for are older than what is kept."""

    code, sentence = "EVENTS_EXPIRED", "these events are no longer kept; take a fresh snapshot"


class InviteExpired(Gone):
    """The invite ended before it was accepted."""

    code, sentence = "INVITE_EXPIRED", "this invite has expired"


class JoinTokenExpired(Gone):
    """The join token or ticket is no longer valid: its time is over."""

    code, sentence = "JOIN_TOKEN_EXPIRED", "this join token has expired"


class JoinTokenUsed(Gone):
    """The join token or ticket was used before; each can be used once."""

    code, sentence = "JOIN_TOKEN_USED", "this join token was used"


class TooLarge(Refused):
    """More bytes than one thing of this sort may have."""

    code, status_hint, sentence = "PAYLOAD_TOO_LARGE", 413, "this is too large"


class Overloaded(Refused):
    """A queue is full or a resource busy; trying again later may work."""

    code, status_hint, sentence = "OVERLOADED", 503, "too busy right now; try again shortly"


class Draining(Overloaded):
    """This process takes no more commands because it is about to stop; another one will."""

    code, sentence = "DRAINING", "the service is restarting; try again shortly"


class Parked(Overloaded):
    """The actor has failed again and again, so that it refuses everything for a while; it has no state meanwhile."""


class Elsewhere(Overloaded):
    """Another node of the service owns the actor. Requests are passed on to it, and live streams follow it, so clients
    meet this only where it moves for longer than a request may take.

    Args:
        node: the name of that node.
        shard: the shard of the actor.
        fence: the fence under which that node owns the shard.
    """

    code, sentence = "ELSEWHERE", "this is moving to another node of the service; try again shortly"

    def __init__(self, node: str = "", shard: int = 0, fence: int = 0, *, message: str | None = None) -> None:
        self.node = node
        self.shard = shard
        self.fence = fence
        super().__init__(message)


class GeoipUnavailable(Refused):
    """No usable GeoIP database is configured, so addresses cannot be located."""

    code, status_hint, sentence = "GEOIP_UNAVAILABLE", 503, "there is no GeoIP database"
