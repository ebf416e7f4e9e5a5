"""An earlier diagnosis: its report, read back, what it was asked, and the folder of one that was interrupted."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pooldiag.attribution.signatures import saved_place
from pooldiag.cli.parser import Subcommand
from pooldiag.cli.target.flags import Invocation
from pooldiag.config.kinds import PATH
from pooldiag.config.options import OPTIONS, Options
from pooldiag.errors import UsageError
from pooldiag.execute.evidence import FOLDER, REPORT, unfinished
from pooldiag.model.arms import Role
from pooldiag.model.readings import PlaceKind, RedPlace, Signature, SignatureKind
from pooldiag.model.schema import SCHEMA

BISECT = "bisect"

_FOLDER_HINT = "name the evidence folder of a bisection"
_REPLACED = {
    "sequence": {"order", "seed", "victim"},
    "order": {"seed", "sequence"},
    "lock": {"no_lock"},
    "no_lock": {"lock"},
}
"""What is said now, and what of an earlier command would contradict it."""

_OF_THE_ARMS = {"budget", "search_runs"}
"""What `attribute` may spend is not a bound of a search."""

_NO_REPORT = "name the report.json of a diagnosis, or its evidence folder"
_OTHERS = {
    "census": ("which counts in files, and runs no case", _NO_REPORT),
    "orders": ("which runs many orders", "name the target, and one of the red ones: --order=rand --seed=N"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierReport:
    """What a saved report says of its diagnosis; a report of an older version says less of it.

    `options` and `target` are words that were typed in `directory`. `signatures` are the reds, the main one first.
    `hidden_by` is the role of an arm without which nothing was red; None: something was.
    """

    path: Path
    command: str
    options: tuple[str, ...]
    target: tuple[str, ...]
    directory: Path
    signatures: tuple[Signature, ...]
    hidden_by: str | None = None

    def red_of(self, victim: str | None) -> Signature | None:
        """Return the main red, or the first one of a case."""
        return next((red for red in self.signatures if victim in {None, red.case}), None)


def report_at(path: Path) -> Path | None:
    """Return the report that a path names: a JSON file, or the one in an evidence folder; None when it names none."""
    found = path / REPORT if path.is_dir() else path
    return found if found.suffix == ".json" and found.is_file() else None


def read_report(path: Path) -> EarlierReport:
    """Read a report; UsageError when it is not one, or says nothing that could be run again."""
    document = _document(path)
    command = document.get("command")
    if not isinstance(command, str) or not str(document.get("schema", "")).startswith(SCHEMA.rpartition("/")[0]):
        raise UsageError(f"{path}: not a report of pooldiag", hint=_NO_REPORT)
    if document["schema"] != SCHEMA:
        raise UsageError(f"{path}: of the schema {document['schema']}", hint=f"this pooldiag reads {SCHEMA}")
    if command in _OTHERS:
        why, hint = _OTHERS[command]
        raise UsageError(f"{path}: a report of `{command}`, {why}", hint=hint)
    try:
        return _read(document, path.absolute(), command)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise UsageError(f"{path}: a damaged report: {_said(error)}", hint=_NO_REPORT) from error


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="look at its permissions") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON", hint=_NO_REPORT) from error
    return document if isinstance(document, dict) else {}


def _read(document: dict[str, Any], path: Path, command: str) -> EarlierReport:
    asked = document.get("invocation") or _reconstructed(document, path)
    signatures = tuple(_signatures(document))
    target = _texts(asked["target"])
    return EarlierReport(
        path=path,
        command=command,
        options=_texts(asked["options"]),
        target=target[target[0] == "--" :],
        directory=Path(asked["directory"]),
        signatures=signatures,
        hidden_by=_hidden_by(document) if signatures else None,
    )


def _reconstructed(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """Say from the facts of a run how it was asked for: a report of an older version does not say it."""
    target = document["target"]
    said = {name: target.get(name) for name in ("framework", "order", "seed")} | {"cwd": target.get("directory")}
    options = [f"--{name}={value}" for name, value in said.items() if value is not None]
    # The evidence of a diagnosis stands in the folder that it was started in: .pooldiag/<time>-<command>-<target>.
    evidence = Path(document.get("evidence") or path.parent)
    return {"target": target["argv"], "options": options, "directory": str(evidence.parent.parent)}


def _signatures(document: dict[str, Any]) -> Iterator[Signature]:
    """Yield the main red, then the others: each within its own verdict, or (of `bisect`) bare."""
    others = [other.get("signature", other) for other in document.get("others") or ()]
    for red in (document.get("signature"), *others):
        if red is not None:
            kind, case = SignatureKind(red["kind"]), _text(red.get("case"))
            text, of_kind = _text(red.get("place")), _text(red.get("place_kind"))
            place = saved_place(text, kind=kind, case=case)
            if text is not None and of_kind is not None:  # a report of an older version has the text alone
                place = RedPlace(text=text, kind=PlaceKind(of_kind), output=_text(red.get("output")))
                place = replace(place, shown=_text(red.get("place_shown")))
            signal, message = _text(red.get("signal")), _text(red.get("message"))
            yield Signature(kind=kind, signal=signal, case=case, place=place, message=message)


def _hidden_by(document: dict[str, Any]) -> str | None:
    """Return the role of an arm that showed a red when no run of the cases as they are did."""
    red = {str(arm["role"]): arm.get("red", 0) + arm.get("new_red", 0) for arm in document.get("arms") or ()}
    if red.get(Role.BASELINE, 1) or red.get(Role.ISOLATE):
        return None
    return next((role for role, count in red.items() if count), None)


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("no list of words where one belongs")
    return tuple(values)


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError("no text where one belongs")
    return value


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def repeated(given: Invocation, report: EarlierReport, command: Subcommand[Invocation]) -> Invocation:
    """Return what the command of a report was asked, as far as this one takes it, with what is asked now over it."""
    earlier = _options(report, command)
    if earlier.no_lock:  # it outranked a lock that the environment named
        earlier = earlier.without({"lock"})
    replaced = {other for name, others in _REPLACED.items() if given.said.says(name) for other in others}
    target, *arguments = report.target
    return Invocation(
        target=target,
        arguments=given.arguments or tuple(arguments),
        said=given.said.over(earlier.without(replaced)),
    )


def _options(report: EarlierReport, command: Subcommand[Invocation]) -> Options:
    """Return what the options of a report say; UsageError for one that no command of this version has."""
    taken = {option.flag: option for option in command.options}
    words = []
    for word in report.options:
        flag, _, text = word.partition("=")
        if flag not in {option.flag for option in OPTIONS.values()}:
            raise _not_of_this_version(report, f"the option {flag} is not known")
        option = taken.get(flag)
        if option is None or (report.command != BISECT and option.name in _OF_THE_ARMS):
            continue
        words.append(f"{flag}={report.directory / text}" if option.kind is PATH else word)
    try:
        return command.read([*words, "--", report.target[0]]).said
    except UsageError as error:
        raise _not_of_this_version(report, error.problem) from error


def _not_of_this_version(report: EarlierReport, why: str) -> UsageError:
    return UsageError(f"{report.path}: its command is none of this version: {why}", hint="name the target itself")


def bisection_at(folder: Path) -> Path:
    """Return a folder that the user names; UsageError when no bisection left it."""
    if not folder.is_dir():
        raise UsageError(f"--resume-from {folder}: no such folder", hint=_FOLDER_HINT)
    report = report_at(folder)
    if report is not None and read_report(report).command != BISECT:
        raise UsageError(f"--resume-from {folder}: not of a bisection", hint=_FOLDER_HINT)
    return Path.cwd() / folder


def last_interrupted(program: Path) -> Path:
    """Return the newest folder that a bisection of this program left unfinished; UsageError when there is none."""
    found = unfinished(
        Path.cwd(), command=BISECT, target=program.name, accepted=lambda folder: _may_be_of(folder, program)
    )
    if found is None:
        raise UsageError(
            f"--resume: {Path.cwd() / FOLDER} has no interrupted bisection of {program.name}",
            hint="leave it out to begin anew",
        )
    return found


def _may_be_of(folder: Path, program: Path) -> bool:
    """Say whether a folder may be of this program, by its report: what was killed early left none, or half of one."""
    path = report_at(folder)
    if path is None:
        return True
    try:
        report = read_report(path)
    except UsageError:
        return True
    return os.path.realpath(report.directory / report.target[0]) == os.path.realpath(program)
