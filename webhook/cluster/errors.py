"""What can go wrong between us and the API server, as one small tree of exceptions.

Callers branch on the class: a lost race (Conflict) is read again, a refusal (Invalid) is ours to
report, and after Unavailable nobody knows whether a write was carried out. Messages of the API
server may hold a whole pod template, twice; they are cut here so that no log has to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

LONGEST_TEXT = 256


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of ``details.causes``: the field, and what is wrong with it (cut)."""

    field: str
    message: str


class ApiError(Exception):
    """The API server answered with an error, or did not answer; ``code`` 0: no answer."""

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        reason: str = "",
        causes: Sequence[Cause] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(cut(message))
        self.code = code
        self.reason = reason
        self.causes = tuple(causes)
        self.retry_after_seconds = retry_after_seconds

    def describe(self) -> str:
        """One line for a log: the code, the message, and the fields that were refused."""
        fields = ", ".join(cause.field for cause in self.causes if cause.field)
        return f"{self.code or 'no answer'}: {self}" + (f" (fields: {fields})" if fields else "")


class NotFound(ApiError):
    """404: the object is gone, or the kind is not served."""


class Conflict(ApiError):
    """409: the object is not what the request thinks it is; nothing was written."""


class Invalid(ApiError):
    """422: refused, with causes where the API server names them; nothing was written."""


class Forbidden(ApiError):
    """401 or 403: who we are may not do this, or a webhook said no."""


class Gone(ApiError):
    """410: the resource version or continue token is too old; list again."""


class TooManyRequests(ApiError):
    """429: nothing was done; ask again after ``retry_after_seconds``."""


class Unavailable(ApiError):
    """5xx, a broken connection or no answer in time: a write may or may not have happened."""


_BY_CODE: dict[int, type[ApiError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def cut(text: str) -> str:
    """The text on one line, at most LONGEST_TEXT characters of it."""
    text = " ".join(text[: 4 * LONGEST_TEXT].split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def class_of(code: int) -> type[ApiError]:
    """The exception for an HTTP status, or for the code of a Status object in a watch."""
    return Unavailable if code >= 500 else _BY_CODE.get(code, ApiError)


def error_of(code: int, body: bytes, *, retry_after: str | None = None) -> ApiError:
    """The exception for a response; understands a Status body and survives any other."""
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        status = {"message": body[:1024].decode(errors="replace")}
    return error_of_status(status, code=code, retry_after=retry_after)


def error_of_status(
    status: dict[str, object], *, code: int | None = None, retry_after: str | None = None
) -> ApiError:
    """The exception for a Status object, such as the one of an ERROR event."""
    stated = status.get("code")
    code = code if code is not None else (stated if isinstance(stated, int) else 500)
    details = status.get("details")
    details = details if isinstance(details, dict) else {}
    seconds = retry_after or details.get("retryAfterSeconds")
    return class_of(code)(
        str(status.get("message") or f"HTTP {code}"),
        code=code,
        reason=str(status.get("reason") or ""),
        causes=tuple(_causes(details.get("causes"))),
        retry_after_seconds=_seconds(seconds),
    )


def _causes(raw: object) -> list[Cause]:
    causes = [cause for cause in raw if isinstance(cause, dict)] if isinstance(raw, list) else []
    return [
        Cause(str(cause.get("field") or ""), cut(str(cause.get("message") or "")))
        for cause in causes
    ]


def _seconds(text: object) -> float | None:
    try:
        return min(max(float(str(text)), 0.0), 300.0)
    except ValueError:
        return None
