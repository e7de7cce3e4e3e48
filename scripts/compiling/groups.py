"""Which modules are compiled, in groups.

The modules of a group know the layout of each other's classes; those of another group are Python objects to them, as
everything is that runs from its source. DECISIONS.md says why the others of these folders are not among them.
"""

GROUPS: dict[str, tuple[str, ...]] = {
    "kernel": (
        "actors.kernel.activation",
        "actors.kernel.actor",
        "actors.kernel.alarm",
        "actors.kernel.clock",
        "actors.kernel.directory",
        "actors.kernel.fanout",
        "actors.kernel.group",
        "actors.kernel.hot_reads",
        "actors.kernel.keeping",
        "actors.kernel.live_views",
        "actors.kernel.mailbox",
        "actors.kernel.missed",
        "actors.kernel.observed",
        "actors.kernel.one_shot",
        "actors.kernel.owners",
        "actors.kernel.recovery",
        "actors.kernel.replay_buffer",
        "actors.kernel.restart_policy",
        "actors.kernel.runtime",
        "actors.kernel.scheduler",
        "actors.kernel.single_flight",
        "actors.kernel.statistics",
        "actors.kernel.subscription",
        "actors.kernel.supervisor",
        "actors.kernel.sweeps",
        "actors.kernel.timers",
        "actors.kernel.turn",
        "actors.kernel.view_loads",
        "actors.kernel.views",
        "actors.kernel.watching",
    ),
    "chat": (
        "actors.chat.apply",
        "actors.chat.deltas",
        "actors.chat.drafts",
        "actors.chat.frames",
        "actors.chat.inbox",
        "actors.chat.lookups",
        "actors.chat.persisting",
        "actors.chat.rendering",
        "actors.chat.retelling",
        "actors.chat.rules_members",
        "actors.chat.rules_messages",
        "actors.chat.rules_polls",
        "actors.chat.sight",
    ),
    "writer": (
        "persistence.bridge.group_commit",
        "persistence.bridge.isolating",
        "persistence.bridge.pool",
        "persistence.bridge.suspects",
        "persistence.bridge.thread",
        "persistence.journal.commit",
    ),
}
"""Modules to compile: {name of the group: names of its modules}."""
