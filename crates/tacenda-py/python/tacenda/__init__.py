"""Publish a changing table of people again and again, so that all releases together keep one promise.

Frames in, frames out::

    import tacenda

    series = tacenda.Series(policy, seed=1)       # policy: a dict, a path, or the text of a policy file
    first = series.publish(stays_q1, "2026-Q1")   # pandas, polars, pyarrow, duckdb: anything that supports Arrow
    second = series.publish(stays_q2, "2026-Q2")
    second.frame.to_pandas()

Every release is judged by the auditor together with all earlier ones before it is handed out. What it
refuses is raised as :class:`TacendaError`. :class:`Project` publishes for real, in a folder that the command
``tacenda`` shares. :func:`audit` attacks releases of any tool.

The promises, by paper:

- ``m-invariance``: X. Xiao, Y. Tao. *m-invariance: towards privacy preserving re-publication of dynamic
  datasets.* SIGMOD 2007.
- ``incremental-k-anonymity``: J. Pei, J. Xu, Z. Wang, W. Wang, K. Wang. *Maintaining k-anonymity against
  incremental updates.* SSDBM 2007.
- ``k-anonymity``: T. M. Truta, A. Campan. *k-anonymization incremental maintenance and optimization
  techniques.* SAC 2007.
- ``incremental-l-diversity``: *Incremental l-diversity by clustering.* Appl. Math. Inf. Sci. 7(5), 2013.
- ``xy-anonymity`` and ``xy-linkability``, about views of one table that are joined: K. Wang, B. C. M. Fung. *Anonymizing
  sequential releases.* KDD 2006.

``tacenda.promises()`` lists them with their parameters.
"""

from tacenda import answers
from tacenda._errors import InputError, TacendaError
from tacenda._functions import Keys, approve, count, demo, demos, diff, draft, explain, promises, restore, show, verify
from tacenda._native import Frame, Release, __version__
from tacenda._project import Project
from tacenda._report import Audit, Report, audit
from tacenda._series import Series, publish
from tacenda._warnings import TacendaWarning

__all__ = [
    "Audit",
    "Frame",
    "InputError",
    "Keys",
    "Project",
    "Release",
    "Report",
    "Series",
    "TacendaError",
    "TacendaWarning",
    "__version__",
    "answers",
    "approve",
    "audit",
    "count",
    "demo",
    "demos",
    "diff",
    "draft",
    "explain",
    "promises",
    "publish",
    "restore",
    "show",
    "verify",
]


def __dir__() -> "list[str]":
    return sorted(__all__)
