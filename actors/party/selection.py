"""What a party is going to play, and what each member must have for it (service-api §2 Party, contract §6)."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from actors.canonical_json import NotCanonical, digest
from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.friends.public import Shown
from actors.server_address import normal_address
from actors.texts import line_flaws

MAX_MODS = 256
"""Most mods that a requirement may name."""

MAX_MODS_BYTES = 32 * 1024
"""Most bytes of these mods together, as JSON."""

SHORT_MAX, LONG_MAX = 100, 200
"""Most characters of a text of a selection."""

Short = Annotated[str, msgspec.Meta(max_length=SHORT_MAX)]
Long = Annotated[str, msgspec.Meta(max_length=LONG_MAX)]
Required = Annotated[str, msgspec.Meta(min_length=1, max_length=LONG_MAX)]


class Minigame(Shown, frozen=True):
    """The game that is played on the target.

    Args:
        mode: the mode of the game.
        variant: the variant of the mode.
        round_based: whether everybody starts at once: then a launch signal is given when all are ready.
    """

    mode: Short | None = None
    variant: Short | None = None
    round_based: bool = False


class ProfileRequirement(Shown, frozen=True):
    """What a member's profile must have; every field is there, null or empty where nothing is asked for.

    Args:
        minecraft_version: the version of the game.
        loader: the mod loader.
        recommended_profile_id: a launcher profile that fits.
        recommended_profile_name: that profile's name.
        recommended_profile_share_code: the code under which it is shared.
        required_mods: the mods that it must have, as the launcher describes them.
    """

    minecraft_version: Short | None = None
    loader: Short | None = None
    recommended_profile_id: Short | None = None
    recommended_profile_name: Long | None = None
    recommended_profile_share_code: Long | None = None
    required_mods: Annotated[tuple[Any, ...], msgspec.Meta(max_length=MAX_MODS)] = ()


class Selection(Shown, frozen=True):
    """What a party has chosen.

    Args:
        target_id: the target's id, of the kind that `targetKind` says.
        server_address: `host` or `host:port`; null where the target says where it is.
        minigame: the game on it; null without one.
        profile_requirement: what a member's launcher profile must have; null without one.
    """

    target_kind: Required
    target_id: Required
    display_name: Required
    server_address: Long | None = None
    minigame: Minigame | None = None
    profile_requirement: ProfileRequirement | None = None

    @property
    def round_based(self) -> bool:
        """Whether the selected game starts in rounds, for all members at once."""
        return self.minigame is not None and self.minigame.round_based


def checked(selection: Selection) -> tuple[Selection, str]:
    """Check a selection; returns it as it is kept, and the hash of its requirement.

    Raises:
        Invalid: a required text is blank, a text is more than a line, the address is malformed, or the mods are too
            many, too large or without a canonical form.
    """
    errors = _text_flaws(selection)
    address = selection.server_address
    if address is not None and normal_address(address) is None:
        errors.append(FieldError("/serverAddress", "BAD_FORMAT", "host or host:port, without a scheme"))
    requirement = selection.profile_requirement or ProfileRequirement()
    pointer = "/profileRequirement/requiredMods"
    hashed = ""
    if len(msgspec.json.encode(requirement.required_mods)) > MAX_MODS_BYTES:
        errors.append(FieldError(pointer, "TOO_LONG", f"at most {MAX_MODS_BYTES} bytes"))
    else:
        try:
            hashed = requirement_hash(requirement)
        except NotCanonical as odd:
            errors.append(FieldError(pointer, "NOT_ALLOWED", str(odd)))
    if errors:
        raise Invalid(*errors)
    return replace(selection, profile_requirement=requirement), hashed


def _text_flaws(selection: Selection) -> list[FieldError]:
    """The flaws of the texts, each of which must be a single line."""
    errors = []
    for pointer, text in (
        ("/targetKind", selection.target_kind),
        ("/targetId", selection.target_id),
        ("/displayName", selection.display_name),
    ):
        if text.strip():
            errors += line_flaws(text, pointer, LONG_MAX)
        else:
            errors.append(FieldError(pointer, "REQUIRED", "must not be blank"))
    for pointer, wording, max_characters in _optional(selection):
        if wording:
            errors += line_flaws(wording, pointer, max_characters)
    return errors


def _optional(selection: Selection) -> Iterator[tuple[str, str | None, int]]:
    """(JSON pointer, text, most characters) of the texts that may be left out."""
    if (game := selection.minigame) is not None:
        yield "/minigame/mode", game.mode, SHORT_MAX
        yield "/minigame/variant", game.variant, SHORT_MAX
    if (asked := selection.profile_requirement) is not None:
        at = "/profileRequirement"
        yield f"{at}/minecraftVersion", asked.minecraft_version, SHORT_MAX
        yield f"{at}/loader", asked.loader, SHORT_MAX
        yield f"{at}/recommendedProfileId", asked.recommended_profile_id, SHORT_MAX
        yield f"{at}/recommendedProfileName", asked.recommended_profile_name, LONG_MAX
        yield f"{at}/recommendedProfileShareCode", asked.recommended_profile_share_code, LONG_MAX


def requirement_hash(requirement: ProfileRequirement) -> str:
    """SHA-256 of the canonical JSON of a requirement (contract §6).

    Raises:
        NotCanonical: the description of a mod has no canonical form.
    """
    return digest(msgspec.to_builtins(requirement))
