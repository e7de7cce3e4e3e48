"""What tests of the kernel share."""

from functools import partial

import trio

from actors.kernel.mailbox import Answer
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND


async def ask_all(stage: Stage, *commands: object) -> list[object]:
    """The answers, or the errors, to commands posted in this order at the same time."""
    told: list[tuple[int, Answer]] = []
    done = trio.Event()

    def collect(n: int, answer: Answer) -> None:
        told.append((n, answer))
        if len(told) == len(commands):
            done.set()

    for n, command in enumerate(commands):
        stage.system.post(KIND, "a", command, partial(collect, n))
    await done.wait()
    return [answer.error or answer.reply for _, answer in sorted(told, key=lambda entry: entry[0])]
