//! Long work without the interpreter's lock: progress is told, and Ctrl-C ends it between two steps.

use crate::error;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tacenda::use_cases::{Progress, RequestFault, UseCaseError, told_of_bug};

/// What is thrown out of the library when Python wants it to end: the exception to go on with.
struct Stopped(PyErr);

/// Ends what the library does, and goes on with an exception of Python.
pub fn stop(error: PyErr) -> ! {
    resume_unwind(Box::new(Stopped(error)))
}

thread_local! {
    /// Whether the work of this thread may end anywhere.
    static MAY_END: Cell<bool> = const { Cell::new(false) };
}

/// Ends the work with an exception that the library has no answer to, such as that of Ctrl-C. Where the work may not end, and
/// for an error that the library is to answer, it is given back.
pub fn unless_it_ends(error: PyErr) -> PyErr {
    let ends = || !Python::attach(|py| error.is_instance_of::<PyException>(py));
    if MAY_END.get() && !thread::panicking() && ends() {
        stop(error);
    }
    error
}

/// One request of a caller: who is told of its progress, and how far it is.
pub struct Errand {
    teller: Option<Py<PyAny>>,
    done: AtomicUsize,
}

impl Errand {
    pub fn new(teller: Option<Py<PyAny>>) -> Errand {
        Errand { teller, done: AtomicUsize::new(0) }
    }

    fn tell(&self, py: Python<'_>, steps: usize, what: &str) -> PyResult<()> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.teller {
            Some(teller) => teller.call1(py, (done, steps, what)).map(drop),
            None => Ok(()),
        }
    }

    /// Work that may end at any step: nothing is written yet, or what is written is whole.
    pub fn look<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Progress<'_>) -> Result<T, UseCaseError> + Send,
    ) -> PyResult<T> {
        let tell = |steps: usize, what: &str| {
            let told = Python::attach(|py| py.check_signals().and_then(|()| self.tell(py, steps, what)));
            if let Err(error) = told {
                stop(error);
            }
        };
        self.finish(py, true, || work(&tell))
    }

    /// Work that goes on to its end, because it writes. An exception of the teller is printed and does no harm. Signals wait.
    pub fn write<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Progress<'_>) -> Result<T, UseCaseError> + Send,
    ) -> PyResult<T> {
        let tell = |steps: usize, what: &str| {
            Python::attach(|py| {
                if let Err(error) = self.tell(py, steps, what) {
                    error.write_unraisable(py, None);
                }
            });
        };
        let held = py.import("tacenda._signals")?.getattr("Held")?.call0()?;
        let ended = self.finish(py, false, || work(&tell));
        let Err(interrupt) = held.call_method0("release") else { return ended };
        if let Err(error) = ended {
            interrupt.set_context(py, Some(error));
        }
        Err(interrupt)
    }

    fn finish<T: Send>(
        &self,
        py: Python<'_>,
        may_end: bool,
        work: impl FnOnce() -> Result<T, UseCaseError> + Send,
    ) -> PyResult<T> {
        // The teller may begin other work in this thread.
        let outer = MAY_END.replace(may_end);
        let thrown = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
        MAY_END.set(outer);
        match thrown {
            Ok(ended) => ended.map_err(|fault| error::raise(py, fault)),
            Err(thrown) => Err(match thrown.downcast::<Stopped>() {
                Ok(stopped) => stopped.0,
                Err(bug) => broken(py, &*bug),
            }),
        }
    }
}

/// A bug of ours.
fn broken(py: Python<'_>, thrown: &(dyn Any + Send)) -> PyErr {
    let message = format!("this is a bug in tacenda: {}", told_of_bug(thrown));
    error::new(py, RequestFault::Bug.code(), 70, &message, &serde_json::Value::Array(Vec::new()), &[])
}
