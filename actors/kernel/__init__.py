"""The generic part of every actor, which knows no domain.

`kind` is what a domain tells the kernel, `directory.System` what the edge calls. Between them, from the
inside out: `mailbox`, `turn`, `life`, `actor`, `supervisor` are an owner and its lives, `scheduler` is the one
task that takes the turns of all; `group`, `fanout`, `subscription`, `views` are what viewers see of it;
`recovery`, `placement`, `patrol`, `timers` serve them all.
"""
