"""Parameters that Typer checks only when they were given: it imports Pydantic for the first one that it looks at."""

from dataclasses import dataclass
from typing import Any, get_args

from typer.core import TyperCommand

_KEPT = "_runtime_param"  # where Typer, from 0.29 on, keeps what checks a parameter; made when it is first needed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Late:
    """Stands in for what checks one parameter, until there is something to check."""

    parameter: Any
    is_text: bool

    def coerce(self, value: object, param: object, ctx: object) -> object:
        """Return a value as Typer does; a text that was typed is one already."""
        if value is None:
            return () if self.parameter.multiple or self.parameter.nargs == -1 else None
        if self.is_text:
            return value
        vars(self.parameter)[_KEPT] = None
        return self.parameter.get_runtime_param().coerce(value, param=param, ctx=ctx)


def check_late(command: TyperCommand) -> TyperCommand:
    """Make a command check its parameters as late as can be; another Typer than the one known here is left alone."""
    for parameter in command.params:
        if vars(parameter).get(_KEPT, ...) is None:
            vars(parameter)[_KEPT] = _Late(parameter=parameter, is_text=_is_text(parameter))
    return command


def _is_text(parameter: Any) -> bool:  # noqa: ANN401 - a class that Typer does not name
    annotation = parameter.type_descriptor.annotation
    return annotation is str or get_args(annotation) in {(str,), (str, type(None))}
