"""JUnit's XML, as CI servers show it: a suite a file, a case a finding.

A finding that makes the run fail is a failure; any other is a case that passed and has something to say. A file
without findings is one case that passed, so that the report is never empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as Xml

from webhook.cli.reports.report import Report
from webhook.language.problems import Problem
from webhook.language.render import render_text


def render(report: Report) -> str:
    """The whole document."""
    suites = Xml.Element("testsuites", name="tidegate lint")
    for path in report.paths:
        found = [p for p in report.problems if p.span.path == path]
        suites.append(_suite(path, found, report))
    for count in ("tests", "failures"):
        suites.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    suites.set("errors", "0")
    return document(suites)


def document(suites: Xml.Element) -> str:
    """The text of a whole document."""
    Xml.indent(suites)
    text = Xml.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(path: str, found: list[Problem], report: Report) -> Xml.Element:
    suite = Xml.Element("testsuite", name=xml_text(path), errors="0", skipped="0")
    suite.set("tests", str(len(found) or 1))
    suite.set("failures", str(sum(report.fails(each) for each in found)))
    suite.extend(_cases(path, found, report))
    return suite


def _cases(path: str, found: list[Problem], report: Report) -> Iterator[Xml.Element]:
    if not found:
        yield Xml.Element("testcase", classname=xml_text(path), name="no problems", time="0")
    for each in found:
        span = each.span
        case = Xml.Element(
            "testcase", classname=xml_text(path), name=f"{each.code}:{span.line}:{span.column}",
            file=xml_text(path), line=str(span.line), time="0",
        )  # fmt: skip
        _tell(case, each, report)
        yield case


def _tell(case: Xml.Element, found: Problem, report: Report) -> None:
    text = xml_text(render_text([found], report.sources))
    if report.fails(found):
        attributes = {"type": found.severity.value, "message": xml_text(found.message)}
        Xml.SubElement(case, "failure", attributes).text = text
    else:
        Xml.SubElement(case, "system-out").text = text


def xml_text(text: str) -> str:
    """What XML 1.0 cannot hold, as a box."""
    return "".join(char if _allowed(char) else "\ufffd" for char in text)


def _allowed(char: str) -> bool:
    return (
        char in "\t\n\r"
        or " " <= char <= "\ud7ff"
        or "\ue000" <= char <= "\ufffd"
        or char > "\uffff"
    )
