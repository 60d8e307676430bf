//! Ledger and vault: the one room that writes history to disk.
