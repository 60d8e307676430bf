//! A release folder: written, and read back as a recipient would.
