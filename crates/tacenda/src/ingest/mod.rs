//! Readers in, encoded tables out; and the policy file.
