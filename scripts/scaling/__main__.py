"""Prints what `docs/scale.md` has: `scripts/scale --help`."""

import argparse
from random import Random

from scripts.scaling.healing import handed_over, killed
from scripts.scaling.moves import spread

ENTRY_US = 10.0
"""CPU time of telling a turn to another node, at both ends and the bus, where many turns are joined in one message."""

EVENT_BYTES = 700
"""Size of an event with a message of a conversation."""

DELIVERY_US = (7.94, 1.49)
"""CPU time of a delivery to one socket: with one message a send, and with several joined (BENCHMARKS.md, fan-out to
1,000)."""

MOST_KILLS = 1_000_000
NODES = (3, 10, 30, 100)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(
        prog="scripts/scale", description="What many nodes would do, computed with the code that they run."
    )
    parser.add_argument("--kills", type=int, default=20_000, metavar="N", help="kills to play (20,000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of what is drawn (1)")
    options = parser.parse_args()
    if not 1 <= options.kills <= MOST_KILLS:
        parser.error(f"--kills must be 1 to {MOST_KILLS:,}")
    rng = Random(options.seed)
    print("nodes  fullest/mean  moved: one comes (least)  one goes")
    for one in map(spread, NODES):
        print(f"{one.nodes:5} {one.fullest:13.2f} {one.joined:17} ({one.least}) {one.left:9}")
    print(f"\nuntil others serve what a killed node owned, {options.kills:,} kills, seconds")
    for nodes in NODES:
        times = killed(nodes, options.kills, rng)
        print(f"{nodes:5} nodes: median {times.median:.1f}, p99 {times.p99:.1f}, longest {times.longest:.1f}")
    print("\na rolling restart")
    for nodes, owners in ((3, 30_000), (10, 100_000), (100, 1_000_000)):
        pauses, empty = handed_over(nodes, owners, rng)
        print(
            f"{nodes:5} nodes, {owners:9,} live owners: a shard pauses {pauses.median * 1000:.0f} ms "
            f"(p99 {pauses.p99 * 1000:.0f}), a node is empty after {empty:.1f} s at most"
        )
    print("\none conversation, 100 messages a second")
    for nodes, sockets in ((10, 10_000), (100, 100_000), (1_000, 1_000_000)):
        _hot(nodes, sockets, rate=100)


def _hot(nodes: int, sockets: int, rate: int) -> None:
    told = nodes * rate
    deliveries = sockets // nodes * rate
    alone, joined = (deliveries * each / 1e6 for each in DELIVERY_US)
    print(
        f"{nodes:5} nodes, {sockets:9,} sockets: its owner tells {told:7,} turns/s, "
        f"{told * EVENT_BYTES / 1e6:.1f} MB/s, {told * ENTRY_US / 1e6:.2f} cores; "
        f"each node {deliveries:,} deliveries/s, {alone:.2f} cores one by one, "
        f"{joined:.2f} joined"
    )


if __name__ == "__main__":
    main()
