//! Joint 1: group, recode, let the auditor judge, remember, and only then publish.
