"""The reports of one diagnosis for machines, one after the other, and what each run did."""

from collections.abc import Iterator

from pooldiag.model.readings import Sight
from pooldiag.model.reports import Run, RunReport
from pooldiag.render._page import Page
from pooldiag.render._run_forms import RunFacts, forms
from pooldiag.render.facts import name_bytes, runs_of
from pooldiag.render.json import Writer, written


class JsonReports(Writer):
    """Renders every report of one diagnosis, as `render` does; the document of a run is made once.

    A report is saved after every run: without this the cost of a run would grow with the runs before it.
    """

    def __init__(self) -> None:
        super().__init__({})
        self._kept: dict[str, tuple[Run, Sight | None, object]] = {}
        self._given: set[str] = set()

    def __call__(self, report: RunReport, page: Page) -> str:  # noqa: ARG002 - a page changes nothing for machines
        """Return the report as one JSON document."""
        self._forms = forms(name_bytes(report))
        document = self.document(report)
        for run in runs_of(report):
            if run.id not in self._kept:  # a report of orders holds what its runs showed, and no document of a run
                self.document(RunFacts(run=run, sight=None))
        return _indented(document)

    def fresh(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of every run that the last report had and the one before had not."""
        for run in [run for run in self._kept if run not in self._given]:
            self._given.add(run)
            yield run, _indented(self._kept[run][2])

    def document(self, value: object) -> object:
        """Return what JSON holds of a value; of a run that was seen so before, what was made then."""
        if not isinstance(value, RunFacts):
            return super().document(value)
        run, sight, made = self._kept.get(value.run.id, (None, None, None))
        if run is not value.run or sight is not value.sight:
            made = super().document(value)
            self._kept[value.run.id] = (value.run, value.sight, made)
        return made


def _indented(document: object) -> str:
    """Return a document as text: the standard library writes many runs quickly only on one line."""
    import msgspec  # noqa: PLC0415 - some milliseconds, only where something was run

    return f"{msgspec.json.format(written(document, indent=None), indent=2)}\n"
