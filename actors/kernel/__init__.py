"""The generic part of every actor, which knows no domain.

`kind` is what a domain tells the kernel, `directory.System` what the edge calls. Between them, from the
inside out: `mailbox`, `turn`, `activation`, `actor`, `supervisor` are an owner and its activations, `scheduler`
is the one task that takes the turns of all; `group`, `fanout`, `subscription`, `views` are what viewers see of it;
`recovery`, `placement`, `sweeps`, `timers` serve them all.
"""
