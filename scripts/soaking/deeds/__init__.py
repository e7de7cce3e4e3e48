"""What users, game servers and admins do, by domain; `DEEDS` has all of it, with how often each happens."""

from scripts.soaking.deeds.chat import CHAT
from scripts.soaking.deeds.connect import CONNECT
from scripts.soaking.deeds.deed import Deed
from scripts.soaking.deeds.operating import OPERATING
from scripts.soaking.deeds.profile import PROFILE
from scripts.soaking.deeds.publishing import PUBLISHING
from scripts.soaking.deeds.social import SOCIAL

DEEDS: tuple[Deed, ...] = (*CHAT, *SOCIAL, *PROFILE, *CONNECT, *PUBLISHING, *OPERATING)
