//! Whole flows through the library, one file a subject.

mod k_anonymity_measured;
