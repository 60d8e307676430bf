//! Made-up people, for the demo, tests and benchmarks; and a naive publisher to break.
