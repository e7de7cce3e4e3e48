"""`partyline serve --processes N` as a process, and its nodes."""

import re

import httpx2

from tests.support.process import ServerProcess
from tests.support.waiting import PATIENCE_SECONDS, wait_until

STARTED = re.compile(r"node_started +number=(\d) pid=(\d+) port=(\d+)")

SHARDS_AND_JOBS = 1040


class Keeper(ServerProcess):
    """The keeper's process, and the addresses of its nodes."""

    @property
    def processes(self) -> int:
        """How many nodes it has."""
        return int(self.settings["processes"])

    def node(self, number: int) -> tuple[int, str]:
        """(process id, address) of a node, as it was started last; only this node answers there."""
        found = [(pid, port) for which, pid, port in STARTED.findall(self.log) if int(which) == number]
        pid, port = found[-1]
        return int(pid), f"http://127.0.0.1:{port}"

    @property
    def pids(self) -> set[int]:
        """The process ids of all nodes."""
        return {self.node(number)[0] for number in range(1, self.processes + 1)}

    async def shared(self) -> None:
        """Wait until each node is up and owns about its share."""
        token = await self.token("Root", "--role", "super-admin")
        least = 0.9 * SHARDS_AND_JOBS / self.processes
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:

            async def is_shared() -> bool:
                headers = {"authorization": f"Bearer {token}"}
                answer = await http.get(f"{self.url}/v1/admin/nodes", headers=headers)
                nodes = answer.json().get("items", ())
                return len(nodes) == self.processes and all(
                    node["state"] == "up" and node["shards"] >= least for node in nodes
                )

            await wait_until(is_shared)
