"""Conversion of plain values on the command line, without the library by which typer checks them.

typer converts every option by an adapter of pydantic, even one that is not given. The import of
pydantic takes longer than parsing a command line and a short run together. Values whose conversion
is plain are therefore converted here; typer gets all others, and so prints every refusal.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_PLAIN = object()
"""Answer for a value that typer has to convert."""

MAX_DIGITS = 18
"""Digits of the longest number that is converted here."""


def convert_plain_values(command: Any) -> Any:  # noqa: ANN401 - typer's classes have no public names
    """Changes a command and its subcommands so that plain values need no adapter; returns it."""
    for subcommand in getattr(command, "commands", {}).values():
        convert_plain_values(subcommand)
    usual = command.get_params

    def get_params(context: object) -> list[Any]:
        parameters: list[Any] = usual(context)  # including --help, which typer adds here
        for parameter in parameters:
            if hasattr(parameter, "type_descriptor") and "process_value" not in vars(parameter):
                parameter.process_value = _processing(parameter, parameter.process_value)
        return parameters

    command.get_params = get_params
    return command


def _processing(parameter: Any, by_typer: Callable[..., object]) -> Callable[..., object]:  # noqa: ANN401
    """Returns a function in place of a parameter's `process_value`."""
    many = parameter.multiple or parameter.nargs == -1
    bounds = parameter.type_descriptor.parameter_info
    kind = parameter.type_descriptor.annotation

    def process(context: object, value: object) -> object:
        if many:
            found = _converted_list(kind, value)
        else:
            found = None if value is None else _converted(kind, value, bounds.min, bounds.max)
        if found is NOT_PLAIN or (parameter.required and parameter.value_is_missing(found)):
            return by_typer(context, value)
        return (
            found if parameter.callback is None else parameter.callback(context, parameter, found)
        )

    return process


def _converted_list(kind: object, values: object) -> object:
    if values is None:
        return ()
    if get_origin(kind) is not list or not isinstance(values, list | tuple):
        return NOT_PLAIN
    (each,) = get_args(kind)
    found = [_converted(each, value, None, None) for value in values]
    return NOT_PLAIN if NOT_PLAIN in found else found


def _converted(kind: object, value: object, least: float | None, most: float | None) -> object:
    if kind is bool and isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return NOT_PLAIN
    if kind is str:
        return value
    if kind is int and value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS:
        number = int(value)
        fits = (least is None or least <= number) and (most is None or number <= most)
        return number if fits else NOT_PLAIN
    if kind is Path and (os.access(value, os.R_OK) or not Path(value).exists()):
        return Path(value)
    return NOT_PLAIN
