"""The generic part of every actor, which knows no domain.

`kind` and `facets` are what a domain tells the kernel, `directory.System` is what the edge calls. Between them, from
the inside out: `mailbox`, `turn`, `alarm`, `keeping`, `activation`, `actor` and `supervisor` are an owner and its
activations; `scheduler` is the one task that takes the turns of all; `group`, `fanout`, `subscription` and `views`
are what viewers see; `recovery`, `placement`, `sweeps` and `timers` serve them all.
"""
