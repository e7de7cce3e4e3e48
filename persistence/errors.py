"""Everything that can go wrong between us and PostgreSQL, as the layers above see it.

    PersistenceError
    ├── DatabaseUnavailable      the database cannot be asked; nothing was changed
    │   └── OutcomeUnknown       it went away while it committed; the change may or may not be there
    ├── QueueFull                too much waits in front of the writer; nothing was changed
    ├── Fenced                   another node owns this actor now; nothing was changed
    ├── NodeEnded                this node is no member any more, and has to begin anew
    ├── HeadMoved                the actor's head is not where the turn left it; nothing was changed
    └── RowsRejected             PostgreSQL refused the rows of this one turn; nothing was changed
        ├── ReferenceGone        they refer to what was deleted meanwhile, such as a user who was erased
        └── LimitReached         with them there would be more than may be, be it that others came first

Database text never travels in these to a client: the edge answers with its own sentence.
"""


class PersistenceError(Exception):
    """The root: what was asked of the database did not happen as asked."""


class DatabaseUnavailable(PersistenceError):
    """The database cannot be reached, or did not answer within the deadline; nothing was changed."""


class OutcomeUnknown(DatabaseUnavailable):
    """The connection was lost during COMMIT: the change may be there or not; only reading again can tell."""


class QueueFull(PersistenceError):
    """The bounded queue in front of the writer is full; nothing was handed over."""


PASSING = (DatabaseUnavailable, QueueFull)
"""What has nothing to do with what was asked: it passes, and would meet everything else as well."""


class Fenced(PersistenceError):
    """The lease of the turn's shard has another fence: this node is no longer the owner."""


class NodeEnded(PersistenceError):
    """This node is no member of its service any more, so its process has to end; the message says why."""


class HeadMoved(PersistenceError):
    """The head row is not at the turn's `seq`: another owner has written, or an earlier commit landed after all."""


class RowsRejected(PersistenceError):
    """PostgreSQL refused this turn's rows (a constraint); the other turns of its batch are not touched.

    Attributes:
        cause: what PostgreSQL, or a kind's `persist`, raised; kept beside `__cause__`, which compiled code does not
            set.
    """

    cause: BaseException | None = None


class ReferenceGone(RowsRejected):
    """Rows refer to what was deleted while they were on their way, such as a user who was erased."""


class LimitReached(RowsRejected):
    """With these rows there would be more than may be, which only the transaction can tell that writes them.

    Args:
        message: for the client, so never text of PostgreSQL's.
        most: how many may be.
    """

    def __init__(self, message: str, most: int) -> None:
        super().__init__(message)
        self.most = most
