"""A command whose options are the fields of a data class."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Annotated, TypeVar, get_args, get_origin

import typer

from pooldiag.cli.problems import exit_code_of
from pooldiag.errors import ExitCode

_F = TypeVar("_F")


def taking(flags: Callable[..., _F]) -> Callable[[Callable[[_F], ExitCode]], Callable[..., None]]:
    """Return a decorator: the work on such flags becomes a function that Typer reads, and that ends the program."""

    def command_of(work: Callable[[_F], ExitCode]) -> Callable[..., None]:
        def command(**values: object) -> None:
            given = {name: _frozen(value) for name, value in values.items() if value is not None}
            raise typer.Exit(int(exit_code_of(lambda: work(flags(**given)))))

        update_wrapper(command, work)
        vars(command)["__signature__"] = _signature(flags)
        return command

    return command_of


def _signature(flags: Callable[..., object]) -> Signature:
    """Return the signature that Typer makes arguments and options of."""
    return Signature([_as_typer_has_it(parameter) for parameter in inspect.signature(flags).parameters.values()])


def _as_typer_has_it(parameter: Parameter) -> Parameter:
    """Return a parameter for Typer, to which a tuple is a fixed number of values and a list any number."""
    kind, told = get_args(parameter.annotation)
    if get_origin(kind) is not tuple:
        return parameter
    listed = GenericAlias(list, get_args(kind)[:1])
    return parameter.replace(annotation=Annotated[listed, told], default=None)


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
