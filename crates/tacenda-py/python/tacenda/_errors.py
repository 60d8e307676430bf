"""The exceptions. Each has the code and the exit code that the command has."""

from __future__ import annotations

from typing import Any, Dict, List

from tacenda.answers import ProblemReport


class TacendaError(Exception):
    """Nothing was published or changed. The message contains no cell value.

    >>> import tacenda
    >>> try:
    ...     tacenda.explain("Z999")
    ... except tacenda.TacendaError as error:
    ...     error.code, error.exit_code
    ('U201', 2)
    """

    code: str
    """A code with a page: :func:`tacenda.explain`."""
    exit_code: int
    """What the command would end with."""
    findings: List[Dict[str, Any]]
    """What the auditor found, for a release that it refused."""
    problems: List[ProblemReport]
    """The single problems with a table, a policy or a release: code, message, column, count, lines, way_out."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.code, self.exit_code = "", 0
        self.findings, self.problems = [], []


class InputError(TacendaError, ValueError):
    """The request, the policy or the data are not accepted, so that another input helps. It is also a ``ValueError``.

    >>> try:
    ...     tacenda.publish(stays.drop(columns="age"), "stays/tacenda.toml")
    ... except ValueError as error:
    ...     error.code, error.problems[0].column
    ('D101', 'age')
    """


def raised(
    message: str, code: str, exit_code: int, findings: List[Dict[str, Any]], problems: List[Dict[str, Any]]
) -> TacendaError:
    """The exception for an error of the library."""
    error = InputError(message) if exit_code in (2, 3) else TacendaError(message)
    error.code, error.exit_code = code, exit_code
    error.findings, error.problems = findings, [ProblemReport(problem) for problem in problems]
    return error
