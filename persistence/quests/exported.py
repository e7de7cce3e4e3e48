"""Which rows about quests go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("quest_days", "user_id = $1"),
    Exported("daily_quests", "user_id = $1"),
    Exported("quest_play", "user_id = $1", leaves=("moments",)),
    Exported("quest_ended_visits", "user_id = $1"),
    Exported("quest_launches", "user_id = $1"),
    Exported("quest_company", "user_id = $1"),
)
