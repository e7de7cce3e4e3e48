"""The parts of a service that the identity routes touch, all real but the clock and the dice."""

from random import Random

from actors.connect.credentials import Credentials
from actors.ids import ObjectIds
from actors.sessions.signed_in import SignedIn
from actors.users.presence import Presence
from actors.users.users import Users
from routes.changes import reactions_of, reconciliations_of
from routes.config.config import read_config
from routes.connect.authenticator import ServerCredentials
from routes.edge.incoming import arriving_bodies
from routes.edge.limits import Limits
from routes.edge.pipeline.metrics import Metrics
from routes.edge.unsent import Unsent
from routes.edge.websocket.registry import Sockets
from routes.lifecycle import Lifecycle
from routes.reconciler import Reconciler
from routes.users.authenticator import TokenAuthenticator
from routes.users.parts import PRESENCE, USER_DIRECTORY
from routes.users.reactions import REACTIONS, RECONCILIATIONS
from tests.support.waiting import PATIENCE_SECONDS

NOW_MS = 1_800_000_000_000

ANN = "00000000-0000-4000-8000-00000000000a"
BEN = "00000000-0000-4000-8000-00000000000b"
EVE = "00000000-0000-4000-8000-00000000000e"
ROOT = "00000000-0000-4000-8000-0000000000ff"
NOBODY = "00000000-0000-4000-8000-000000000000"


class SteppedClock:
    """Stands still until it is told to go."""

    def __init__(self):
        self.at_ms = NOW_MS

    def now_ms(self):
        return self.at_ms


class Parts:
    """What `Edge` and the handlers are given as their service."""

    clock_type = SteppedClock

    def __init__(self, database, keys, issuers):
        self.config = read_config({"PARTYLINE_REQUEST_SECONDS": str(PATIENCE_SECONDS)})
        self.clock = SteppedClock()
        self.random_bytes = Random(1).randbytes
        self.ids = ObjectIds(self.random_bytes)
        self.database = database
        self.keys = keys
        self.users = Users(database, self.clock, self.random_bytes)
        self.presence = Presence(self.clock)
        self.signed_in = SignedIn(database, self.clock)
        self.authenticator = TokenAuthenticator(keys, issuers, self.users, self.signed_in, self.clock)
        self.server_authenticator = ServerCredentials(keys, Credentials(database), self.users, self.clock)
        self.limits = Limits(enabled=False)
        self.arriving, self.unsent = arriving_bodies(), Unsent()
        self.metrics = Metrics()
        self.lifecycle = Lifecycle(NOW_MS)
        self.reconciler = Reconciler()
        self.node = None
        self.reactions = reactions_of(REACTIONS)
        self.reconciliations = reconciliations_of(RECONCILIATIONS)
        self.sockets = Sockets(self.clock, Random(2))
        self.draining, self.leaving, self.others = False, False, None
        self._opened = {USER_DIRECTORY: self.users, PRESENCE: self.presence}

    def of(self, part):
        return self._opened[part]
