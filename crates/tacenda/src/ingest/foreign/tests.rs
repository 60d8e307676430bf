//! Reading releases of anyone: every notation, and what cannot be read.
