import json
import subprocess
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from pooldiag.model.bisections import BisectReport, OrderResult, OrdersReport
from pooldiag.model.cases import Order
from pooldiag.model.readings import Sight
from pooldiag.render import Page, render
from pooldiag.render.facts import Report
from pooldiag.render.run_json import JsonReports
from tests.render.attribute_samples import ANSWERS, CRASHING, HOSTILE, MECHANISMS, NAMES, SAMPLES, nan_in, sound_census
from tests.render.bisect_samples import BISECTIONS, ORDERS, POLLUTER
from tests.render.samples import EVERY

SCHEMA = json.loads(files("pooldiag.render").joinpath("report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

Document = dict[str, Any]
Change = Callable[[Document], None]

# The contract, as published: fields may be added, never renamed.
TOP = (
    "schema",
    "command",
    "partial",
    "status",
    "answer",
    "mechanism",
    "signature",
    "blocked_by",
    "candidates",
    "others",
    "ruled_out",
    "seen",
    "not_asked",
    "witnesses",
    "separators",
    "not_established",
    "answers",
    "mechanisms",
    "arms",
    "reproducer",
    "next",
    "evidence",
    "lock",
    "disk",
    "target",
)
BISECT = (
    "schema",
    "command",
    "partial",
    "status",
    "prefix",
    "victim",
    "position",
    "polluters",
    "cleaners",
    "sets",
    "runs",
    "cases_run",
    "seconds",
    "confidence",
    "reproducer",
    "green_command",
    "evidence",
)
ORDERS_TOP = ("schema", "command", "partial", "orders")
ORDER = ("order", "seed", "reading", "signatures", "cases", "assertions")
ARM = (
    "role",
    "env",
    "acted",
    "runs",
    "red",
    "new_red",
    "void",
    "signature",
    "cases",
    "assertions",
    "outputs",
    "seconds",
)
FILE = (
    "path",
    "tensor",
    "format",
    "dtype",
    "sha256",
    "n",
    "nan",
    "inf",
    "positive_inf",
    "negative_inf",
    "zero",
    "negative_zero",
    "subnormal",
    "min",
    "max",
    "absmax",
    "first",
    "nan_patterns",
    "nan_runs",
    "dominant",
    "findings",
)


def rendered(report: Report) -> Document:
    found: Document = json.loads(render(report, form="json", page=Page()))
    return found


def refuse(constant: str) -> None:
    raise AssertionError(constant)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", EVERY)
def test_every_report_is_what_the_schema_says(name: str) -> None:
    VALIDATOR.validate(rendered(EVERY[name]))


@pytest.mark.parametrize("name", EVERY)
def test_any_reader_of_json_can_read_it(name: str) -> None:
    text = render(EVERY[name], form="json", page=Page())
    assert text.isascii()
    json.loads(text, parse_constant=refuse)  # NaN and Infinity are Python's, not JSON's
    json.loads(text, object_pairs_hook=lambda pairs: [str(pair).encode() for pair in pairs])  # no lone surrogate


@pytest.mark.parametrize("name", SAMPLES)
def test_the_reports_of_one_diagnosis_read_as_each_does_by_itself(name: str) -> None:
    whole = SAMPLES[name]
    begun = replace(whole, arms=tuple(replace(arm, runs=arm.runs[:1], sights=arm.sights[:1]) for arm in whole.arms))
    unseen = tuple(replace(arm, sights=(Sight.NOTHING,) * len(arm.sights)) for arm in whole.arms)
    to_json = JsonReports()
    for report in (begun, whole, replace(whole, arms=unseen), whole, *SAMPLES.values()):
        assert to_json(report, Page()) == render(report, form="json", page=Page())


def test_has_every_field_of_the_contract() -> None:
    document = rendered(SAMPLES["silent"])
    assert set(TOP) <= set(document)
    assert list(document)[:3] == ["schema", "command", "partial"]
    for arm in document["arms"]:
        assert set(ARM) <= set(arm)
        for file in arm["outputs"]:
            assert set(FILE) <= set(file)


def test_tells_the_silent_direction_in_numbers() -> None:
    document = rendered(SAMPLES["silent"])
    baseline, bypass = document["arms"][:2]
    video = baseline["outputs"][0]
    assert (baseline["runs"], baseline["red"], baseline["new_red"], baseline["void"]) == (2, 2, 0, 0)
    assert baseline["cases"] == {"selected": 13, "started": 13, "passed": 12, "failed": 1, "skipped": 0}
    assert baseline["assertions"] == {"passed": 4638, "failed": 1}
    assert (video["path"], video["n"], video["nan"], video["absmax"]) == ("video.bin", 1024, 1024, None)
    assert video["first"][0] == {"value": "nan", "bits": "0x7fff0000"}
    assert video["nan_patterns"] == [{"bits": "0x7fff0000", "count": 1024}]
    assert bypass["env"] == {"set": {"VT_POOL_BYPASS": "1"}, "unset": []}
    assert bypass["assertions"] == {"passed": 6176, "failed": 0}
    assert document["signature"]["kind"] == "failure"
    assert document["runs"][0]["ending"] == "exit code 1"


def test_an_arm_counts_new_reds_and_void_runs_apart() -> None:
    by_role = {arm["role"]: arm for arm in rendered(SAMPLES["another-red"])["arms"]}
    assert (by_role["per-case"]["new_red"], by_role["isolate"]["void"]) == (1, 1)
    assert by_role["per-case"]["signature"]["kind"] == "nan"


def test_the_signature_of_an_arm_is_the_one_in_question_where_it_has_it() -> None:
    arms = rendered(SAMPLES["silent"])["arms"]
    assert arms[0]["signature"] == rendered(SAMPLES["silent"])["signature"]
    assert arms[1]["signature"] is None
    about_video = replace(SAMPLES["silent"].attribution, signature=nan_in("video.bin"))
    document = rendered(replace(SAMPLES["silent"], attribution=about_video))
    assert document["arms"][0]["signature"]["place"] == "video.bin"


def test_a_command_with_raw_bytes_is_one_that_a_shell_accepts() -> None:
    line = rendered(SAMPLES["hostile"])["reproducer"].removeprefix("./t ")
    found = subprocess.run(["sh", "-c", f"printf %s {line}"], capture_output=True, check=True).stdout
    assert found == b"--test-case=a\x1b[31m\xff b"


def test_infinities_are_words() -> None:
    output = sound_census("o", 8, 0.5)
    assert output.census is not None
    first = tuple(replace(element, value=sign * float("inf")) for element in output.census.first for sign in (1, -1))
    whole = SAMPLES["silent"]
    run = whole.arms[1].runs[0]
    outputs = (replace(output, census=replace(output.census, first=first)),)
    changed = replace(run, outcome=replace(run.outcome, outputs=outputs))
    arm = replace(whole.arms[1], runs=(changed,), shown=changed)
    document = rendered(replace(whole, arms=(arm,)))
    VALIDATOR.validate(document)
    assert {entry["value"] for entry in document["arms"][0]["outputs"][0]["first"]} == {"inf", "-inf"}


def test_a_name_that_is_not_utf_8_has_its_bytes_beside_it() -> None:
    document = rendered(SAMPLES["hostile"])
    assert b64decode(document["signature"]["name_bytes"]) == b"\xff\x1b[31m"
    assert document["signature"]["case"].startswith("[red]x[/red] \x1b[31m")
    assert document["signature"]["case"] == HOSTILE.replace("\udcff", "\\xff").replace("\ud800", "\\ud800")
    assert document["runs"][0]["vacuous"][0]["name_bytes"] == document["signature"]["name_bytes"]
    assert "name_bytes" not in rendered(SAMPLES["loud"])["signature"]


def test_tells_the_answer_what_was_seen_and_what_speaks_beside_it() -> None:
    document = rendered(SAMPLES["fact"])
    assert (document["answer"], document["mechanism"]) == ("carried-by-pool", "access-past-end")
    assert document["seen"][0] == {"role": "bypass", "shows": "gone", "confidence": 0.997, "runs": 4}
    assert [one["shows"] for one in rendered(SAMPLES["race"])["seen"]] == [
        "gone",
        "there",
        "there",
        "there",
        "own-rate",
    ]
    assert document["not_asked"][0] == {"role": "quarantine", "reason": "would not tell"}
    hint, fact = document["witnesses"]
    assert hint["against"] == ["stale-read", "stale-read-in-case"]
    assert fact == {
        "id": "guard",
        "kind": "fact",
        "text": "SIGSEGV at the first byte behind a block of 4096 bytes, and none with room behind it",
        "for": ["access-past-end"],
        "against": [],
        "source": "guard and pad, runs 10 and 11",
    }
    assert document["answers"][0] == {
        "id": "carried-by-pool",
        "title": "the pool carries something from case to case",
        "meaning": ANSWERS[0].meaning,
        "advice": ANSWERS[0].advice,
    }


def test_what_a_further_arm_says_within_the_answer_stands_beside_it() -> None:
    whole = SAMPLES["loud"]
    narrowed = replace(whole.attribution, narrowed="alone it is green: an earlier case left these bytes")
    assert rendered(replace(whole, attribution=narrowed))["narrowed"] == narrowed.narrowed
    assert rendered(whole)["narrowed"] is None


def test_candidates_stand_in_their_order_whether_or_not_something_is_answered() -> None:
    for name, answer in (("loud", "carried-by-pool"), ("few-switches", None)):
        document = rendered(SAMPLES[name])
        assert document["answer"] == answer
        assert document["mechanism"] is None
        assert [one["mechanism"] for one in document["candidates"]] == [
            one.mechanism for one in SAMPLES[name].attribution.candidates
        ]
        assert document["candidates"][0]["posterior"] == 0.993


def test_an_established_report_names_an_answer_or_a_mechanism() -> None:
    document = rendered(SAMPLES["fact"])
    for left in ("answer", "mechanism"):
        VALIDATOR.validate(document | {left: None})
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document | {"answer": None, "mechanism": None})


def test_has_the_facts_that_another_format_needs() -> None:
    document = rendered(SAMPLES["loud"])
    assert [run["id"][:2] for run in document["runs"]] == [f"{number:02d}" for number in range(1, 10)]
    assert document["runs"][0]["counters"] == {"hits": 3}
    assert document["removed_variables"] == [{"name": "VT_POOL_BYPASS", "value": "0"}]
    assert (document["target"]["order"], document["target"]["seed"]) == ("rand", 7)
    assert {row["id"] for row in document["mechanisms"]} == {row.id for row in MECHANISMS}
    assert rendered(SAMPLES["hostile"])["runs"][0]["leftovers"] == [{"pid": 99, "command": "sleep \x1b[2J 9"}]


def test_a_black_box_has_no_assertions_and_selects_no_cases() -> None:
    whole = SAMPLES["loud"]
    run = whole.arms[0].runs[0]
    box = replace(run, outcome=replace(run.outcome, selection=None))
    arm = replace(whole.arms[0], runs=(box,), shown=box, sights=whole.arms[0].sights[:1])
    document = rendered(replace(whole, arms=(arm,)))
    VALIDATOR.validate(document)
    assert document["arms"][0]["assertions"] is None
    assert document["arms"][0]["cases"]["selected"] is None


def test_a_bisection_has_every_field_of_the_contract() -> None:
    document = rendered(BISECTIONS["bisect-found"])
    assert set(BISECT) <= set(document)
    assert list(document)[:4] == ["schema", "command", "partial", "status"]
    assert (document["status"], document["prefix"], document["position"]) == ("found", 3, 4)
    assert (document["victim"], document["polluters"], document["sets"]) == (CRASHING, [POLLUTER], [[POLLUTER]])
    assert (document["runs"], document["cases_run"]) == (7, 25)
    report = BISECTIONS["bisect-found"]
    assert report.reproducer is not None
    assert report.green_command is not None
    assert (document["reproducer"], document["reproducer_ended"]) == (report.reproducer.line, "SIGSEGV")
    assert (document["green_command"], document["green_command_ended"]) == (report.green_command.line, "exit code 0")


def test_a_bisection_tells_what_carries_it() -> None:
    document = rendered(BISECTIONS["bisect-cleaners"])
    red = document["prefix_proof"]["red"]
    assert red == {"cases": list(NAMES[:9]), "red": 2, "green": 0, "other": 0, "void": 0, "other_red": None}
    assert [tried["cases"] for tried in document["set_proof"]["green"]] == [[NAMES[8]], [NAMES[3]]]
    assert (document["smallest"], document["recalled"], document["speculative"]) == (False, 8, 3)
    assert [(one["role"], one["sight"], one["run"]["id"]) for one in document["confirmations"]] == [
        ("bypass", "G", "40-bypass"),
        ("per-case", "G", "41-per-case"),
        ("isolate", "R", "42-isolate"),
    ]
    assert document["whole"]["assertions"] == {"passed": 4638, "failed": 1}
    assert rendered(BISECTIONS["bisect-alone"])["state_setters"] == [NAMES[0]]
    probed = rendered(BISECTIONS["bisect-found"])["probed"]
    assert probed[3] == {"run": "04-search", "phase": "search", "cases": 2, "reading": "red"}


@pytest.mark.parametrize(("name", "runs"), [("green", 2), ("bisect-green", 2), ("orders-green", 5)])
def test_a_green_has_the_rate_that_it_excludes(name: str, runs: int) -> None:
    excluded = rendered(EVERY[name])["excluded"]
    assert (excluded["confidence"], excluded["runs"]) == (0.95, runs)
    assert (1 - excluded["rate"]) ** runs == pytest.approx(0.05, rel=1e-3)


def test_a_bisection_holds_the_whole_report_of_the_arms() -> None:
    whole = BISECTIONS["bisect-found"]
    assert whole.attribution is not None
    assert rendered(whole)["attribution"] == rendered(whole.attribution)


def test_the_runs_of_a_bisection_are_told_once_each() -> None:
    whole = BISECTIONS["bisect-found"]
    assert whole.attribution is not None
    to_json = JsonReports()
    to_json(replace(whole, attribution=None, confirmations=()), Page())
    assert [run for run, _ in to_json.fresh()] == ["01-baseline"]
    to_json(whole, Page())
    told = dict(to_json.fresh())
    arms = {run.id for arm in whole.attribution.arms for run in arm.runs}
    assert set(told) == arms | {"30-bypass", "31-per-case"}
    assert json.loads(told["30-bypass"])["sight"] == "G"
    to_json(whole, Page())
    assert list(to_json.fresh()) == []


@pytest.mark.parametrize("name", [*BISECTIONS, *ORDERS])
def test_reports_that_follow_each_other_read_as_each_does_by_itself(name: str) -> None:
    to_json = JsonReports()
    one: BisectReport | OrdersReport = BISECTIONS[name] if name in BISECTIONS else ORDERS[name]
    for report in (*BISECTIONS.values(), one, *ORDERS.values(), one):
        assert to_json(report, Page()) == render(report, form="json", page=Page())


def test_names_in_lists_have_their_bytes_in_one_place() -> None:
    printed = HOSTILE.replace("\udcff", "\\xff").replace("\ud800", "\\ud800")
    for name in ("bisect-hostile", "orders-hostile"):
        document = rendered(EVERY[name])
        assert {key: b64decode(raw) for key, raw in document["name_bytes"].items()} == {printed: b"\xff\x1b[31m"}
    assert printed in rendered(BISECTIONS["bisect-hostile"])["polluters"]
    assert printed in rendered(ORDERS["orders-hostile"])["orders"][0]["failing"]
    assert rendered(BISECTIONS["bisect-found"])["name_bytes"] == {}


def test_a_checked_command_with_raw_bytes_is_one_that_a_shell_accepts() -> None:
    line = rendered(BISECTIONS["bisect-hostile"])["reproducer"].removeprefix("./t ")
    found = subprocess.run(["sh", "-c", f"printf %s {line}"], capture_output=True, check=True).stdout
    assert found == b"--test-case=a\x1b[31m\xff b"


def test_orders_have_every_field_of_the_contract() -> None:
    document = rendered(ORDERS["orders-mixed"])
    assert set(ORDERS_TOP) <= set(document)
    for order in document["orders"]:
        assert set(ORDER) <= set(order)
    seed_7 = document["orders"][3]
    assert (seed_7["order"], seed_7["seed"], seed_7["reading"], seed_7["same_as"]) == ("rand", 7, "red", None)
    assert (seed_7["victim"], seed_7["position"], seed_7["prefix"]) == (CRASHING, 4, 3)
    assert (seed_7["failing"], seed_7["cases"]["passed"]) == ([CRASHING], 3)
    assert document["shortest"]["prefix"] == 3
    assert document["shortest"]["proof"]["green"][0]["green"] == 1
    assert document["by_accident"] is True


def test_an_order_that_is_the_same_list_as_another_tells_its_counts() -> None:
    document = rendered(ORDERS["orders-mixed"])
    seed_7, seed_8 = document["orders"][3:5]
    assert seed_8["same_as"] == {"order": "rand", "seed": 7}
    for field in ("reading", "signatures", "cases", "assertions", "run"):
        assert seed_8[field] == seed_7[field]


def test_an_order_without_a_run_is_void() -> None:
    nothing = OrderResult(order=Order())
    document = rendered(replace(ORDERS["orders-green"], orders=(nothing,)))
    VALIDATOR.validate(document)
    assert (document["orders"][0]["reading"], document["orders"][0]["run"]) == ("void", None)


def test_the_runs_of_orders_are_told_once_each() -> None:
    to_json = JsonReports()
    to_json(ORDERS["orders-mixed"], Page())
    assert [run[:2] for run, _ in to_json.fresh()] == ["01", "02", "03", "04", "05", "06", "07"]
    to_json(ORDERS["orders-mixed"], Page())
    assert list(to_json.fresh()) == []


def without(*path: str | int) -> Change:
    def change(document: Document) -> None:
        holder: Any = document
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]

    return change


def having(value: object, *path: str | int) -> Change:
    def change(document: Document) -> None:
        holder: Any = document
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(without(field) for field in TOP),
        *(without("arms", 0, field) for field in ARM),
        *(without("arms", 0, "outputs", 0, field) for field in FILE),
        having("maybe", "status"),
        having("pooldiag.report/2", "schema"),
        having("bisect", "command"),
        having("orders", "command"),
        having("census me", "command"),
        having(1, "partial"),
        having(None, "answer"),  # established, and nothing named
        having("Not An Id", "answer"),
        having("Not An Id", "mechanism"),
        having("segfault", "signature", "kind"),
        having("sometimes", "arms", 0, "acted"),
        having("warp", "arms", 0, "role"),
        having(-1, "arms", 0, "runs"),
        having("2", "arms", 0, "red"),
        having("Infinity", "arms", 0, "outputs", 0, "first", 0, "value"),
        having("7fff", "arms", 0, "outputs", 0, "first", 0, "bits"),
        having(1.5, "candidates", 0, "posterior"),
        having("maybe", "seen", 0, "shows"),
        having("warp", "seen", 0, "role"),
        having(1.5, "seen", 0, "confidence"),
        having("warp", "not_asked", 0, "role"),
        having("rumour", "witnesses", 0, "kind"),
        having("a text", "witnesses", 0),
        having("yellow", "runs", 0, "reading"),
        having("blocked", "status"),  # and nothing that blocks
    ],
)
def test_the_schema_rejects_a_wrong_document(change: Change) -> None:
    document = rendered(SAMPLES["silent"])
    VALIDATOR.validate(document)
    change(document)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(("bisect-found", without(field)) for field in BISECT),
        *(("orders-mixed", without(field)) for field in ORDERS_TOP),
        *(("orders-mixed", without("orders", 0, field)) for field in ORDER),
        ("bisect-found", having("attribute", "command")),
        ("bisect-found", having("established", "status")),
        ("bisect-found", having(None, "signature")),  # found, and no red
        ("bisect-found", having(0, "position")),
        ("bisect-found", having(-1, "prefix")),
        ("bisect-found", having("a case", "polluters")),
        ("bisect-found", having([None], "sets")),
        ("bisect-found", having(1.5, "confidence")),
        ("bisect-found", having("blocked", "status")),  # and nothing that blocks
        ("bisect-found", having("yellow", "probed", 0, "reading")),
        ("bisect-found", having("maybe", "attribution", "status")),
        ("bisect-found", having("X", "confirmations", 0, "sight")),
        ("bisect-found", having(-1, "set_proof", "red", "red")),
        ("orders-mixed", having("random", "orders", 0, "order")),
        ("orders-mixed", having(None, "orders", 0, "reading")),
        ("orders-mixed", having([{}], "orders", 0, "signatures")),
        ("orders-mixed", having(7, "orders", 4, "same_as")),
        ("orders-mixed", having("no", "by_accident")),
    ],
)
def test_the_schema_rejects_a_wrong_bisection_or_order(name: str, change: Change) -> None:
    document = rendered(EVERY[name])
    VALIDATOR.validate(document)
    change(document)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


def test_the_schema_is_open_to_added_fields() -> None:
    document = rendered(SAMPLES["silent"])
    for holder in (document, document["arms"][0], document["runs"][0], document["target"], document["signature"]):
        holder["added_later"] = 1
    VALIDATOR.validate(document)


def test_what_a_mechanism_leaves_open_stands_with_it() -> None:
    whole = SAMPLES["loud"]
    row = replace(whole.mechanisms[0], leaves_open=("which buffer",))
    document = json.loads(render(replace(whole, mechanisms=(row,)), form="json", page=Page()))
    assert document["mechanisms"][0]["leaves_open"] == ["which buffer"]
