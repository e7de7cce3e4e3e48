"""What `/proc` says of the server: its process, memory and CPU time. On Linux only; elsewhere the answers are None or
empty."""

import os
from pathlib import Path

_LISTEN = "0A"
_PROC = Path("/proc")


def listener(port: int) -> int | None:
    """The process that listens on a TCP port of this machine; None when it cannot be seen."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = (_PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for process in sorted((p for p in _PROC.iterdir() if p.name.isdigit()), key=lambda p: int(p.name)):
        try:
            if any(str(fd.readlink()) in inodes for fd in (process / "fd").iterdir()):
                return int(process.name)
        except OSError:
            continue
    return None


def local_ports() -> int:
    """How many connections this machine can have to one address and port."""
    try:
        lowest, highest = (_PROC / "sys/net/ipv4/ip_local_port_range").read_text().split()
    except OSError:
        return 65_535
    return int(highest) - int(lowest) + 1


def tree(pid: int) -> list[int]:
    """The process and its descendants, without PostgreSQL's."""
    return [one for one, name in _descendants(pid) if not name.startswith("postgres")]


def databases(pid: int) -> list[int]:
    """PostgreSQL's processes below the process."""
    return [one for one, name in _descendants(pid) if name.startswith("postgres")]


def _descendants(pid: int) -> list[tuple[int, str]]:
    """(process, name) of the process and everything below it."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for process in _PROC.iterdir():
        if process.name.isdigit():
            try:
                name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
            except OSError:
                continue
            children.setdefault(int(rest.split()[1]), []).append(int(process.name))
            names[int(process.name)] = name
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append((one, names.get(one, "")))
        waiting += children.get(one, [])
    return found


def memory_bytes(pid: int) -> int | None:
    """Resident memory of the process and its descendants, without PostgreSQL's."""
    total = 0
    for one in tree(pid):
        try:
            total += int((_PROC / str(one) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            continue
    return total or None


def cpu_ns(pid: int) -> int:
    """CPU time that the process and its descendants have used, without PostgreSQL's, nanoseconds.

    From each thread's schedstat, which counts nanoseconds where `stat` counts hundredths of a second.
    """
    return used_ns(tree(pid))


def machine_ns(pid: int) -> tuple[int, int]:
    """(CPU time that this machine has used, the part of it that a process and all its descendants have used), in
    nanoseconds."""
    fields = [int(field) for field in (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts = fields[:7]
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    busy_ns = (user + nice + system + interrupts + soft_interrupts) * tick_ns
    return busy_ns, used_ns([one for one, _ in _descendants(pid)])


def used_ns(processes: list[int]) -> int:
    """CPU time that these processes have used, all their threads together, nanoseconds."""
    total = 0
    for one in processes:
        try:
            threads = list((_PROC / str(one) / "task").iterdir())
        except OSError:
            continue
        for thread in threads:
            try:
                total += int((thread / "schedstat").read_text().split()[0])
            except (OSError, IndexError):
                continue
    return total
