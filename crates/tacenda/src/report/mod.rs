//! Joint 2: what audit and measure found, as text, JSON and HTML.
