"""The changes of the hosts that make the ends of the range over hosts.

    python -m evidence.studies.hosts [FOLDER]

asks the questions of `hosts_on_kernel` and prints the buffer of each changed link. Runs are stored
in the folder. It takes half a minute of one processor.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from statistics import median

from evidence.hosts_on_kernel.make import questions
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.api import size_link


def main(store: Path) -> None:
    """Prints the range of each link with its changes, and the changes that make the ends."""
    effort = Effort(queues=(), changes=False, rules=False, store=store)
    ratios: list[float] = []
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for question in questions():
        answer = size_link(question.link, effort)
        world = answer.world
        if world is None:
            continue
        high = world.high or 4 * answer.number
        ratios.append(high / world.low)
        print(f"{' '.join(question.flags)}: {answer.number}, {world.low} to {high}")
        known = {what: one for what, one in world.buffers.items() if one is not None}
        for what, one in known.items():
            print(f"    {one:4} {what}")
        least[min(known, key=known.__getitem__)] += 1
        most[max(known, key=known.__getitem__)] += 1
    print(f"upper over lower end, median: {median(ratios):.2f}")
    for end, counts in (("lower", least), ("upper", most)):
        print(f"{end} end: {', '.join(f'{what} {count}' for what, count in counts.most_common())}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "target/hosts"))
