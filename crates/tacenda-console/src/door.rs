//! Who may come in: the right host, our own pages only, and the one browser that had the link.
//!
//! The link has a token in its fragment, which browsers send to nobody. A script hands it over once, and gets a cookie for
//! it. Cookies ignore ports, so another server on 127.0.0.1 would be sent ours: therefore the host has a name of its own.

use axum::http::{HeaderMap, Method, StatusCode, header};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What needs no cookie: the page that hands the token over, and what it is made of.
const OPEN: [&str; 5] = ["/", "/session", "/app.css", "/app.js", "/icon.svg"];

/// The door.
pub struct Door {
    host: String,
    cookie: String,
    idle: Duration,
    inside: Mutex<Inside>,
}

/// Who is inside.
struct Inside {
    /// The token of the link, until it is used.
    token: Option<String>,
    /// The secret of the cookie, and when it was last used by a person.
    session: Option<(String, Instant)>,
}

/// Why somebody stays outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outside {
    /// The request is meant for another host: a name that was made to point here.
    WrongHost,
    /// The request comes from a page of somebody else.
    WrongOrigin,
    /// Nobody is signed in, or another browser is.
    NoSession,
    /// Nobody did anything for too long.
    Idle,
}

impl Outside {
    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Outside::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            Outside::WrongOrigin => StatusCode::FORBIDDEN,
            Outside::NoSession | Outside::Idle => StatusCode::UNAUTHORIZED,
        }
    }

    /// The same in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Outside::WrongHost => "This address is not the console's.",
            Outside::WrongOrigin => "This request does not come from a page of the console.",
            Outside::NoSession => {
                "The console is closed here. Open the link that tacenda serve printed; each link works once."
            }
            Outside::Idle => "The console locked itself, because nobody used it. The terminal shows a new link.",
        }
    }
}

impl Door {
    /// A door on a host and a port, which closes itself after some time.
    pub fn new(name: &str, port: u16, idle: Duration) -> Door {
        let inside = Inside { token: Some(secret()), session: None };
        let (host, cookie) = (format!("{name}:{port}"), format!("tacenda-{port}"));
        Door { host, cookie, idle, inside: Mutex::new(inside) }
    }

    /// The link that works once; a new one if the last was used and nobody is inside.
    pub fn link(&self) -> Option<String> {
        let inside = self.inside.lock().expect("nobody panics with the door in hand");
        inside.token.as_ref().map(|token| format!("http://{}/#t={token}", self.host))
    }

    /// Where the console is.
    #[cfg(test)]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Hands the token over. The answer is the cookie.
    pub fn exchange(&self, token: &str) -> Option<String> {
        let mut inside = self.inside.lock().expect("nobody panics with the door in hand");
        let is_right = inside.token.as_ref().is_some_and(|right| same(right, token));
        if !is_right {
            return None;
        }
        inside.token = None;
        let session = secret();
        inside.session = Some((session.clone(), Instant::now()));
        Some(format!("{}={session}; HttpOnly; SameSite=Strict; Path=/", self.cookie))
    }

    /// Closes the door; the next link is new.
    pub fn lock(&self) {
        let mut inside = self.inside.lock().expect("nobody panics with the door in hand");
        *inside = Inside { token: Some(secret()), session: None };
    }

    /// Whether a request may come in. A page that only asks how a job is going keeps nobody signed in.
    pub fn admit(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Outside> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
        if text(header::HOST) != self.host {
            return Err(Outside::WrongHost);
        }
        let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok()).unwrap_or("");
        if !["", "same-origin", "none"].contains(&site) {
            return Err(Outside::WrongOrigin);
        }
        let only_reads = method == Method::GET || method == Method::HEAD;
        if !only_reads && text(header::ORIGIN) != format!("http://{}", self.host) {
            return Err(Outside::WrongOrigin);
        }
        if OPEN.contains(&path) {
            return Ok(());
        }
        self.knows(text(header::COOKIE), headers.contains_key("x-only-looking"))
    }

    fn knows(&self, cookies: &str, only_looking: bool) -> Result<(), Outside> {
        let mut inside = self.inside.lock().expect("nobody panics with the door in hand");
        let Some((session, last)) = &mut inside.session else { return Err(Outside::NoSession) };
        let named = |cookie: &str| cookie.trim().strip_prefix(&self.cookie)?.strip_prefix('=').map(str::to_string);
        if !cookies.split(';').filter_map(named).any(|given| same(session, &given)) {
            return Err(Outside::NoSession);
        }
        if last.elapsed() > self.idle {
            *inside = Inside { token: Some(secret()), session: None };
            return Err(Outside::Idle);
        }
        if !only_looking {
            *last = Instant::now();
        }
        Ok(())
    }
}

/// Sixteen random bytes in hexadecimal digits.
pub fn secret() -> String {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).expect("the machine has randomness");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two secrets are the same, in a time that does not say where they differ.
fn same(right: &str, given: &str) -> bool {
    let differs = right.bytes().zip(given.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
    right.len() == given.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_once_and_locking_makes_a_new_one() {
        let door = Door::new("t1.localhost", 1, Duration::from_secs(60));
        let link = door.link().unwrap();
        let token = link.split("#t=").nth(1).unwrap();
        assert!(door.exchange("").is_none() && door.exchange(&token[1..]).is_none());
        assert!(door.exchange(token).unwrap().contains("HttpOnly; SameSite=Strict"));
        assert!(door.exchange(token).is_none() && door.link().is_none());
        door.lock();
        assert_ne!(door.link().unwrap(), link);
    }
}
