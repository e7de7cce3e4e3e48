"""Tasks that do one piece of work after the other."""

import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from routes.task_pool import RESTING_MAX, TaskPool


class Works:
    """Work that notes its task, and goes on once it may."""

    def __init__(self) -> None:
        self.tasks: list[trio.lowlevel.Task] = []
        self.may_end = trio.Event()

    async def work(self, *, fails: bool = False) -> None:
        """Be a piece of work."""
        self.tasks.append(trio.lowlevel.current_task())
        await self.may_end.wait()
        if fails:
            raise ZeroDivisionError

    async def fail(self) -> None:
        """Be a piece of work that goes wrong."""
        await self.work(fails=True)


async def test_what_comes_later_is_done_by_tasks_that_are_there(nursery: trio.Nursery) -> None:
    pool, works = TaskPool("working", nursery.start_soon), Works()
    works.may_end.set()
    for _ in range(3):
        pool.start(works.work)
        await wait_all_tasks_blocked()
    assert len(works.tasks) == 3
    assert len(set(works.tasks)) == 1


async def test_nothing_waits_for_other_work_and_few_tasks_stay(nursery: trio.Nursery) -> None:
    pool, works = TaskPool("working", nursery.start_soon), Works()
    for _ in range(RESTING_MAX + 5):
        pool.start(works.work)
    await wait_all_tasks_blocked()
    assert len(set(works.tasks)) == RESTING_MAX + 5
    works.may_end.set()
    await wait_all_tasks_blocked()
    assert len(nursery.child_tasks) == RESTING_MAX


async def test_a_fault_ends_its_own_work_alone(nursery: trio.Nursery) -> None:
    pool, works = TaskPool("working", nursery.start_soon), Works()
    works.may_end.set()
    with capture_logs() as log:
        pool.start(works.fail)
        await wait_all_tasks_blocked()
        pool.start(works.work)
        await wait_all_tasks_blocked()
    assert [(entry["event"], entry["doing"]) for entry in log] == [("kernel_fault", "working")]
    assert len(works.tasks) == 2
    assert len(set(works.tasks)) == 1
