"""Data: reading tables, the kinds of columns, and the audit that finds problems before a run.

`as_table` takes an array with names, a data frame of any kind or a file; `Table.kinds` says which columns are
continuous, discrete or ordinal. `anypag.audit` lists the problems of a table before a search.
"""

from anypag.data.findings import Audit, Finding
from anypag.data.moments import Moments, moments_of
from anypag.data.table import Kind, Table, as_table

__all__ = ["Audit", "Finding", "Kind", "Moments", "Table", "as_table", "moments_of"]
