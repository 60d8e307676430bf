//! The console: a steward's own page, on her own machine.
//!
//! `tacenda serve` opens it. It converts and prints; what it shows is decided by the use cases of the library. Everything
//! that lasts is in the files of the project: a page can be reloaded, two tabs agree, and the command line can be used by turns.
//! What is dropped on a page lies in a private folder that goes with the server. Nothing leaves the machine.

mod door;
mod drops;
mod jobs;
mod shell;
mod forms;
mod console;
mod routes;
mod pages;

#[cfg(test)]
mod tests;

pub use console::ConsoleSettings;

use crate::console::Console;
use crate::drops::Drops;
use crate::routes::router;
use axum::Router;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tacenda::use_cases::UseCaseError;
use tokio::net::TcpListener;

/// Opens the console and serves it until the process is told to end. `announce` is called with the one-use link, and again each
/// time the console has locked itself.
pub fn serve(settings: ConsoleSettings, announce: impl Fn(&str) + Send + Sync + 'static) -> Result<(), UseCaseError> {
    refuse_elsewhere(&settings)?;
    let drops = Drops::open().map_err(|error| failed("the private folder", error))?;
    if drops.is_of_root() && !settings.i_know {
        return Err(UseCaseError::Usage(
            "the console does not run as root: a page must not have more rights than its user; run it as yourself, or \
             with --i-know"
                .into(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed("the runtime", error))?;
    runtime.block_on(async {
        let address = SocketAddr::new(settings.bind, settings.port);
        let listener = TcpListener::bind(address).await.map_err(|error| failed(&address.to_string(), error))?;
        let port = listener.local_addr().map_err(|error| failed(&address.to_string(), error))?.port();
        let console = Arc::new(Console::new(settings, drops, port, Box::new(announce)));
        console.announce();
        let app: Router = router(Arc::clone(&console));
        let served = axum::serve(listener, app).with_graceful_shutdown(told_to_end()).await;
        // A release that is being written is finished; everything else may be left.
        let finished = Arc::clone(&console);
        let _ = tokio::task::spawn_blocking(move || finished.jobs.finish_publishing()).await;
        console.drops.remove();
        served.map_err(|error| failed(&address.to_string(), error))
    })
}

/// Refuses to be reachable from other machines, unless a person says that this is meant.
fn refuse_elsewhere(settings: &ConsoleSettings) -> Result<(), UseCaseError> {
    let is_here = match settings.bind {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    };
    if is_here || settings.i_know {
        return Ok(());
    }
    let message = "the console is for this machine only: its pages show private numbers, and nothing is encrypted on the \
                   way; leave --bind out, or add --i-know";
    Err(UseCaseError::Usage(message.into()))
}

fn failed(what: &str, source: io::Error) -> UseCaseError {
    UseCaseError::File { file: what.into(), source }
}

/// Waits for Ctrl-C, or for the signal that ends a process.
async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        std::future::poll_fn(|context| {
            match interrupt.poll_recv(context).is_ready() || terminate.poll_recv(context).is_ready() {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })
        .await;
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}
