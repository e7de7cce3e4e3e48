"""The Domain record of parties."""

from persistence.party.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.party import invites, lobby, members, streams
from routes.party.channels import PARTY as CHANNEL
from routes.party.doubts import DOUBTS
from routes.party.erasing import forget_user, let_go
from routes.party.follow import follow
from routes.party.jobs import jobs_of
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import DAYS_TOGETHER, PARTY_KINDS
from routes.party.reactions import REACTIONS, RECONCILIATIONS

PARTY = Domain(
    name="party",
    mounts=(Mount("party", (members, invites, lobby, streams)),),
    parts=(MEMBERSHIPS, PARTY_KINDS, DAYS_TOGETHER),
    channels=(CHANNEL,),
    jobs=jobs_of,
    follow=follow,
    reactions=REACTIONS,
    reconciliations=(*RECONCILIATIONS, *DOUBTS),
    let_go=let_go,
    forget_user=forget_user,
    exported=EXPORTED,
)
