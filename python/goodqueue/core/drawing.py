"""Options of pictures: their formats, and the caption in the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from pathlib import Path

Format = Literal["png", "svg", "pdf"]

FORMATS: tuple[Format, ...] = ("png", "svg", "pdf")


@dataclass(frozen=True, slots=True)
class Drawing:
    """The values of `--format` and `--no-caption`.

    Attributes:
        formats: the formats in which each picture is written.
        caption: True if the caption is drawn in the image, below the axes. It is always written to
            captions.txt.
    """

    formats: tuple[Format, ...] = ("png",)
    caption: bool = True


def drawing_of(formats: str | None, *, caption: bool, usual: tuple[Format, ...]) -> Drawing:
    """Reads `--format`, as in `svg,pdf`.

    Raises:
        RequestError: if a format is none of png, svg and pdf.
    """
    if formats is None:
        return Drawing(usual, caption)
    named = list(dict.fromkeys(part.strip() for part in formats.split(",")))
    for name in named:
        if name not in FORMATS:
            raise RequestError(
                f"--format {formats}: unknown format {name!r}; write one or more of "
                f"{', '.join(FORMATS)}, "
                "such as svg,pdf"
            )
    return Drawing(tuple(cast("Format", name) for name in named), caption)


def format_of(file: Path, option: str = "") -> Format:
    """Returns the format of a picture by the end of its name.

    Raises:
        RequestError: if it is none of .png, .svg and .pdf; `option` begins the message.
    """
    ending = file.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise RequestError(f"{option} {file}".strip() + ": the name must end in .png, .svg or .pdf")
    return ending
