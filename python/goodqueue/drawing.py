"""How pictures are written: in which formats, and whether the caption is in the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from goodqueue.errors import RequestError

Format = Literal["png", "svg", "pdf"]

FORMATS: tuple[Format, ...] = ("png", "svg", "pdf")


@dataclass(frozen=True, slots=True)
class Drawing:
    """What `--format` and `--no-caption` say.

    Attributes:
        formats: the formats that each picture is written in.
        caption: whether the caption stands in the image, below the axes. It is in captions.txt in
            any case.
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
                f"--format {formats}: {name!r} is no format of pictures; write one or more of "
                f"{', '.join(FORMATS)}, as in svg,pdf"
            )
    return Drawing(tuple(cast("Format", name) for name in named), caption)
