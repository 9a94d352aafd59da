"""Published rules for buffer sizes, which the core has; `RULES` lists them.

A rule is a function from a `goodqueue.sizing.link.Link` to an `Advice`: a number of packets, the
assumptions that this link breaks, and what else the rule says. Each has a file in
`crates/theory/src/rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodqueue import _core

if TYPE_CHECKING:
    from goodqueue._core import RuleWords
    from goodqueue.sizing.link import Link

__all__ = ["RULES", "Advice", "Rule", "rule_named", "rules_for"]


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice of a rule for one link.

    Attributes:
        packets: the buffer in packets, not rounded; None if the rule has no number here.
        broken: the assumptions that do not hold on this link, a sentence each.
        notes: further remarks of the rule on the link.
    """

    packets: float | None
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if all assumptions that can be checked hold."""
        return not self.broken

    @property
    def whole_packets(self) -> int | None:
        """The buffer rounded down, as the papers' tables do, but at least one packet.

        A buffer that rounding errors put just below a whole number counts as that number.
        """
        return None if self.packets is None else _core.whole_packets(self.packets)


@dataclass(frozen=True, slots=True)
class Rule:
    """A published rule for the size of a buffer.

    Attributes:
        name: its name in tables and files.
        title: its name in full.
        equation: the formula, with C in bits per second, T in seconds, N flows, B in packets.
        source: its publication.
        assumptions: conditions of its derivation.
        kind: a derived `rule`, or a `claim` that is quoted without a derivation.
        bound: `at least` if the buffer is a lower bound, `at most` if it is an upper bound.
        trial: the study with its measured record: that of loss-based flows, or of modern ones.
    """

    name: str
    title: str
    equation: str
    source: str
    assumptions: tuple[str, ...]
    kind: Literal["rule", "claim"]
    bound: Literal["at least", "at most"]
    trial: Literal["classic", "modern"]

    def advise(self, link: Link) -> Advice:
        """Returns the rule's answer for a link with flows."""
        packets, broken, notes = _core.advise(self.name, link)
        return Advice(packets, tuple(broken), tuple(notes))


def _rule(words: RuleWords) -> Rule:
    return Rule(
        name=words["name"],
        title=words["title"],
        equation=words["equation"],
        source=words["source"],
        assumptions=tuple(words["assumptions"]),
        kind=words["kind"],
        bound=words["bound"],
        trial=words["trial"],
    )


RULES: tuple[Rule, ...] = tuple(map(_rule, _core.published_rules()))
"""All published rules."""

DEVICE_RULE = _rule(_core.device_rule())
"""The rule that repeats the buffer of the device today."""


def rule_named(name: str) -> Rule:
    """Returns the published rule of that name.

    Examples:
        >>> from goodqueue.sizing.rules import rule_named
        >>> rule_named("sqrt_n").title
        'C T / sqrt(N)'
    """
    return next(rule for rule in RULES if rule.name == name)


def rules_for(link: Link) -> tuple[Rule, ...]:
    """Returns the published rules, and the buffer of the link's device today if that is known."""
    return RULES if link.configured_packets is None else (*RULES, DEVICE_RULE)
