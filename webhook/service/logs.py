"""Logs as lines a machine can read: key=value text, or JSON. One record is one line, always."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import IO


class LineFormatter(logging.Formatter):
    """``time=… level=… logger=… message="…"``, or the same as JSON."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._json = form == "json"

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line; a traceback is a field like any other."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name.removeprefix("webhook."),
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        if self._json:
            return json.dumps(fields, ensure_ascii=False)
        return " ".join(f"{key}={_word(value)}" for key, value in fields.items())


def _word(value: str) -> str:
    """Bare where it is one word, else quoted; line ends never survive."""
    plain = value and not any(c.isspace() or c in '"=\\' for c in value)
    return value if plain else json.dumps(value, ensure_ascii=False)


def set_up_logs(level: str, form: str, *, stream: IO[str] | None = None) -> None:
    """To standard error; libraries below warning are not heard."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter(form))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("webhook").setLevel(level.upper())
