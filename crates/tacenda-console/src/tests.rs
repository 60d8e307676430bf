//! The rules of the door and the pages, without a browser.
