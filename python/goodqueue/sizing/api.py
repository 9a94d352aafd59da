"""Sizing from Python: `size` in texts with units; `size_link` and `judge_rules` in numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError, as_arguments
from goodqueue.runs.memory import limit_of
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.answer.listener import SILENT, Listener
from goodqueue.sizing.answer.work_out import by_theory, work_out
from goodqueue.sizing.link import Asked
from goodqueue.sizing.question import Bounds, Question
from goodqueue.sizing.trials.described import LinkTrial, notes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.runs.api import Source
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Overrides
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Trial

    Sized = tuple[Trial, Link, tuple[str, ...], int]
    """The trial of a link, the link, sentences on its interpretation, and the first seed."""

EXAMPLES = {
    "rate": "20Mbps",
    "rtt": "30ms",
    "packet": "1500B",
    "control": "cubic",
    "profile": "linux",
    "max_window": "64kB",
    "input_rate": "1Gbps",
    "access_rate": "100Mbps",
    "mark_at": "65p",
    "min_utilization": "98%",
    "max_loss": "1%",
    "max_delay": "50ms",
    "mix": "80%",
}
"""Texts of `size`'s arguments, for messages."""

UNASKED = "theory only; nothing was run"


def size(  # noqa: PLR0913 - one for each option of the command
    scenario: Source | None = None,
    *,
    rate: str | None = None,
    rtt: str | None = None,
    flows: int | None = None,
    packet: str | None = None,
    control: str | None = None,
    profile: str | None = None,
    as_in_theory: bool = False,
    max_window: str | None = None,
    input_rate: str | None = None,
    access_rate: str | None = None,
    mark_at: str | None = None,
    paced: bool = False,
    link: str | None = None,
    set: Overrides = (),  # noqa: A002
    allow_python: bool = False,
    min_utilization: str = "98%",
    max_loss: str | None = None,
    max_delay: str | None = None,
    mix: str | None = None,
    quick: bool = False,
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
    seed: int | None = None,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Answer:
    """Finds the smallest buffer that keeps a link busy, of a described link or of a scenario.

    Arguments are texts with units, as on the command line. After Ctrl-C the call returns the
    finished parts. `size_link` takes a `Link` instead, in numbers.

    Args:
        scenario: path of a scenario file, its text, or a mapping of the same shape, in place of
            `rate`, `rtt` and `flows`.
        rate: rate of the link, such as `20Mbps`.
        rtt: base round-trip times: `30ms`, `20ms,80ms`, or `20ms..534ms` for 18 even steps.
        flows: number of long flows that the link limits.
        packet: size of a full IP packet; by default `1500B`.
        control: congestion control, `cubic` by default; or several with their shares of the flows,
            such as `cubic:70%,bbr3:30%`.
        profile: TCP profile of the hosts, `linux` by default, or `rfc`.
        as_in_theory: True for the TCP that the rules assume.
        max_window: receivers' window, such as `64kB`, if it limits flows.
        input_rate: sum of the capacities that feed the link, such as `1Gbps`.
        access_rate: rate of one flow's access link, such as `100Mbps`.
        mark_at: threshold of the marking queue of DCTCP, such as `65p`.
        paced: True if senders space their packets over the round trip.
        link: link of the scenario; by default the one called `bottleneck`, or the only one.
        set: values that replace the scenario's, by path.
        allow_python: True to import the classes that the scenario names, which runs their modules'
            code.
        min_utilization: smallest utilisation of the link.
        max_loss: largest loss rate, such as `1%`.
        max_delay: largest 99th percentile of the queueing delay, such as `50ms`.
        mix: share of the capacity of the long flows; by default `100%`.
        quick: True for the answer of theory alone, without simulation.
        effort: extent of the simulations.
        seed: seed of the first replicate; by default that of the scenario, or 1.
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        ScenarioError: with the argument or the place in the scenario, and what to write instead.
        RequestError: if the description is incomplete, or if nothing could keep the bounds.

    Examples:
        >>> import goodqueue
        >>> answer = goodqueue.size(rate="20Mbps", rtt="30ms", flows=4, max_loss="1%", quick=True)
        >>> answer.link.rate_bps, answer.link.max_loss_rate, answer.buffer < 50
        (20000000, 0.01, True)
    """
    described: dict[str, Any] = {
        "rate": rate,
        "rtt": rtt,
        "flows": flows,
        "packet": packet,
        "control": control,
        "profile": profile,
        "as_in_theory": as_in_theory,
        "max_window": max_window,
        "input_rate": input_rate,
        "access_rate": access_rate,
        "mark_at": mark_at,
        "paced": paced,
    }
    given = {
        name: value for name, value in described.items() if value is not None and value is not False
    }
    of_file = {"link": link, "set": set, "allow_python": allow_python}
    _check_arguments(scenario, given, [name for name, value in of_file.items() if value])
    asked = {"min_utilization": min_utilization, "max_loss": max_loss, "max_delay": max_delay}
    _check_texts({**given, **asked, "mix": mix})
    bounds = Bounds(min_utilization, max_loss, max_delay, mix)
    with as_arguments():
        if scenario is None:
            its_link = Question(**given, bounds=bounds).link()
            sized: Sized = LinkTrial(), its_link, notes_of(its_link), 1 if seed is None else seed
        else:
            sized = _of_scenario(
                scenario, bounds.asked(), link=link, set=set, seed=seed, allow_python=allow_python
            )
    trial, its_link, notes, first_seed = sized
    if quick:
        return by_theory(its_link, trial, UNASKED, notes)
    listener = Listener(on_run)
    return simulate(trial, its_link, effort, first_seed, notes=notes, listener=listener)


def judge_rules(link: Link) -> Answer:
    """Returns every published rule's buffer for a link and whether it holds; runs nothing.

    Raises:
        RequestError: if the link has no flows, because the rules are about flows.

    Examples:
        >>> from goodqueue.sizing import Link, judge_rules
        >>> answer = judge_rules(Link(10e6, (0.060,), flows=1))
        >>> answer.rules.filter(rule="bdp")["packets"].to_list()
        [50]
    """
    _check_flows(link)
    return by_theory(link, LinkTrial(), UNASKED, notes_of(link))


def size_link(
    link: Link,
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
    *,
    seed: int = 1,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Answer:
    """Finds the smallest buffer of a described link that keeps its bounds, and judges every rule.

    After Ctrl-C the call returns the finished parts.

    Args:
        link: the link, its traffic and its bounds.
        effort: extent of the simulations.
        seed: seed of the first replicate of every limit.
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        RequestError: if the link has no flows.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from goodqueue.sizing import Effort, Link, size_link
        >>> few = Effort(3, queues=(), changes=False, rules=False, store=Path(mkdtemp()))
        >>> answer = size_link(Link(1e6, (0.040,), flows=1), few)
        >>> answer.buffer <= 10
        True
    """
    _check_flows(link)
    listener = Listener(on_run)
    return simulate(LinkTrial(), link, effort, seed, notes=notes_of(link), listener=listener)


def size_scenario(  # noqa: PLR0913 - all but the scenario are options, by name
    source: Source,
    asked: Asked = Asked(),  # noqa: B008 - it is frozen
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
    *,
    link: str | None = None,
    jitter_s: float | None = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    controls: Mapping[str, ControlFactory] | None = None,
    queues: Mapping[str, QueueFactory] | None = None,
    allow_python: bool = False,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Answer:
    """Finds the smallest buffer of a scenario's link that keeps the bounds with its own traffic.

    Args:
        source: path of a scenario file, its text, or a mapping of the same shape.
        asked: the bounds, and the facts that the file does not contain.
        effort: extent of the simulations.
        link: name of the link; None for the one called `bottleneck`, or the only one.
        jitter_s: largest random delay of the start of flows that do not set it, in seconds; None
            for one base round-trip time of the link.
        set: values that replace the file's, by path.
        seed: seed of the first replicate; replaces the scenario's seed.
        controls: congestion controls in Python, by group of flows: classes at the top of a module.
        queues: queues in Python in place of those of links, by link: classes at the top of a
            module. That of the link that is sized takes its limit as `limit_packets`.
        allow_python: True to import the classes that the scenario names as congestion controls
            and queues, which runs their modules' code.
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        ScenarioError: with place, mistake and remedy.
        RequestError: if nothing could keep the bounds on this link, or if the queue in Python of
            the link has no limit, or is to be run by the hybrid engine.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import goodqueue
        >>> from goodqueue.sizing import Asked, Effort, size_scenario
        >>> few = Effort(3, queues=(), changes=False, rules=False, store=Path(mkdtemp()))
        >>> answer = size_scenario(goodqueue.EXAMPLE, Asked(min_utilization=0.9), few)
        >>> answer.buffer < 100
        True
    """
    trial, its_link, notes, first_seed = _of_scenario(
        source,
        asked,
        link=link,
        jitter_s=jitter_s,
        set=set,
        seed=seed,
        controls=controls,
        queues=queues,
        allow_python=allow_python,
    )
    listener = Listener(on_run)
    return simulate(trial, its_link, effort, first_seed, notes=notes, listener=listener)


def _of_scenario(  # noqa: PLR0913 - the options of `size_scenario`
    source: Source,
    asked: Asked,
    *,
    link: str | None,
    set: Overrides,  # noqa: A002
    seed: int | None,
    allow_python: bool,
    jitter_s: float | None = None,
    controls: Mapping[str, ControlFactory] | None = None,
    queues: Mapping[str, QueueFactory] | None = None,
) -> Sized:
    """Returns the trial of a scenario's link, the link, its notes, and the first seed."""
    from goodqueue.runs.api import load
    from goodqueue.runs.plugins import named_controls, named_queues, with_queues
    from goodqueue.runs.settings import overrides
    from goodqueue.sizing.trials.file import FileTrial, link_name

    given = [*overrides(set), *named_controls(controls)]
    scenario = load(source, set=given, seed=seed, allow_python=allow_python or bool(controls))
    scenario = with_queues(scenario, named_queues(queues))
    trial = FileTrial(scenario, link_name(scenario, link), asked, jitter_s)
    return trial, trial.link, trial.notes, scenario.seed


def simulate(  # noqa: PLR0913 - what is run, how much of it, and its callbacks
    trial: Trial,
    link: Link,
    effort: Effort,
    seed: int,
    *,
    notes: tuple[str, ...] = (),
    listener: Listener = SILENT,
) -> Answer:
    """Computes the answer on this machine's threads."""
    from goodqueue.sizing.search.budget import Budget
    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.study.runner import Runner, user_store
    from goodqueue.study.threads import Threads

    budget = Budget(effort.budget, effort.time_s, listener.on_budget)
    limit = limit_of(effort.memory)
    with user_store("sizing", effort.store) as store:
        runner = Runner(store, Threads(effort.jobs, limit), listener.on_run)
        laboratory = Laboratory(runner, trial, seed, limit, budget, effort.engine)
        answer = work_out(link, laboratory, effort, notes=notes, listener=listener)
        return replace(answer, kept=store.lasting)


def _check_arguments(
    scenario: Source | None, given: Mapping[str, object], of_file: Sequence[str]
) -> None:
    """Refuses an incomplete description of a link, and arguments that would be ignored."""
    if scenario is not None and given:
        raise RequestError(
            f"{next(iter(given))} describes a link, but the scenario describes its own"
        )
    if scenario is None and of_file:
        raise RequestError(f"{of_file[0]} belongs to a scenario, but none is given")
    lacking = [name for name in ("rate", "rtt", "flows") if name not in given]
    if scenario is None and lacking:
        one = ", too" if len(lacking) < 3 else ""
        what = " and ".join(lacking) + one if one else "a scenario, or rate, rtt and flows"
        raise RequestError(f'give {what}, as in goodqueue.size(rate="20Mbps", rtt="30ms", flows=4)')


def _check_texts(given: Mapping[str, object]) -> None:
    """Refuses numbers in place of texts with units."""
    for name, value in given.items():
        if name not in {"flows", "as_in_theory", "paced"} and not isinstance(value, str | None):
            raise RequestError(
                f'{name} is {value!r}: write a text with its unit, such as "{EXAMPLES[name]}"'
            )


def _check_flows(link: Link) -> None:
    if link.flows < 1:
        raise RequestError("a buffer rule needs at least one flow")
