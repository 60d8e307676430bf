//! Tests that join rooms.

mod attacks;
