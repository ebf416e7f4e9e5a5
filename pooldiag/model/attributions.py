"""Mechanisms, and what the runs make of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.arms import Role
from pooldiag.model.readings import Signature


class Prediction(StrEnum):
    """What a mechanism makes an arm show."""

    SAME_RED = "R"
    GREEN = "G"
    NEW_RED = "N"
    ANYTHING = "o"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One possible cause: what it means, what to do first, what stays open, and what each role shows if this is it."""

    id: str
    title: str
    meaning: str
    advice: str
    leaves_open: tuple[str, ...]
    predictions: Mapping[Role, Prediction]


class Status(StrEnum):
    """How far a diagnosis got."""

    GREEN = "green"
    ESTABLISHED = "established"
    UNRESOLVED = "unresolved"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mechanism that the runs leave open; plain elimination has no posterior."""

    mechanism: str
    posterior: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A mechanism that one run of an arm contradicts; `saw` and `expected` say how."""

    mechanism: str
    arm: Role
    run: str
    expected: Prediction
    saw: Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What the runs establish about one signature (None: nothing was red).

    `mechanism` is an id, "none" when no mechanism fits, or None while several do. `separators` are roles
    whose runs would tell the candidates apart and are missing.
    """

    signature: Signature | None
    status: Status
    mechanism: str | None = None
    candidates: tuple[Candidate, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    not_established: tuple[str, ...] = ()
    separators: tuple[Role, ...] = ()
