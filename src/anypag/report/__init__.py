"""The report: one HTML file that shows a result, how it was found, and why."""

from anypag.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
