//! Long work: one job of a kind at a time, with progress, in a thread of its own.
//!
//! A job that is cancelled stops at its next step, as if the process had been killed there: the library then leaves nothing half
//! done. Publishing cannot be cancelled. What a job produces lies in files; its page is kept here as long as the server runs.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tacenda::use_cases::{Progress, RequestFault, ToldError, UseCaseError, told_of_bug};

/// A kind of work.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Work {
    /// Attack everything published, for the verdict.
    Judge,
    /// Draft and write the policy.
    Draft,
    /// Try numbers on a large table.
    Try,
    /// Can this table be published?
    Check,
    /// Compare two settings.
    Compare,
    /// Rehearse the next release.
    Plan,
    /// Publish the plan.
    Publish,
    /// Audit dropped files.
    Audit,
    /// Check digests and signatures.
    Verify,
}

impl Work {
    const ALL: [Work; 9] = [
        Work::Judge,
        Work::Draft,
        Work::Try,
        Work::Check,
        Work::Compare,
        Work::Plan,
        Work::Publish,
        Work::Audit,
        Work::Verify,
    ];

    /// Its word in an address.
    pub fn word(self) -> &'static str {
        match self {
            Work::Judge => "judge",
            Work::Draft => "draft",
            Work::Try => "try",
            Work::Check => "check",
            Work::Compare => "compare",
            Work::Plan => "plan",
            Work::Publish => "publish",
            Work::Audit => "audit",
            Work::Verify => "verify",
        }
    }

    /// The kind of a word.
    pub fn named(word: &str) -> Option<Work> {
        Work::ALL.into_iter().find(|work| work.word() == word)
    }

    /// What is being done, as a person reads it.
    pub fn title(self) -> &'static str {
        match self {
            Work::Judge => "The series is being attacked",
            Work::Draft => "The policy is being drafted",
            Work::Try => "The numbers are being tried",
            Work::Check => "The table is being checked",
            Work::Compare => "Two settings are being compared",
            Work::Plan => "The release is being rehearsed",
            Work::Publish => "The release is being published",
            Work::Audit => "The releases are being audited",
            Work::Verify => "Everything is being verified",
        }
    }
}

/// How a job stands.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It runs: steps done, steps in all, and what is done now.
    Running(usize, usize, String),
    /// It ended; this is what its page shows.
    Done(String),
    /// It ended badly.
    Failed(ToldError),
    /// A person stopped it.
    Cancelled,
}

/// A job.
struct Job {
    standing: Standing,
    /// What it was about. A page shows a result only if it is about what the page is about.
    about: String,
    stop: Arc<AtomicBool>,
}

/// All jobs.
#[derive(Default)]
pub struct Jobs {
    jobs: Mutex<BTreeMap<Work, Job>>,
    ended: Condvar,
}

/// What a stopped job unwinds with.
struct Stopped;

impl Jobs {
    /// How the job of a kind stands, if there was one about this.
    pub fn standing(&self, work: Work, about: &str) -> Option<Standing> {
        let jobs = self.jobs.lock().expect("no job panics with the list in hand");
        let job = jobs.get(&work)?;
        let is_running = matches!(job.standing, Standing::Running(..));
        (is_running || job.about == about).then(|| job.standing.clone())
    }

    /// How the job of a kind stands, whatever it was about.
    pub fn any(&self, work: Work) -> Option<Standing> {
        self.jobs.lock().expect("no job panics with the list in hand").get(&work).map(|job| job.standing.clone())
    }

    /// Starts a job, unless one of its kind runs.
    pub fn start(
        self: &Arc<Self>,
        work: Work,
        about: &str,
        run: impl FnOnce(Progress<'_>) -> Result<String, UseCaseError> + Send + 'static,
    ) {
        let stop = Arc::new(AtomicBool::new(false));
        {
            let mut jobs = self.jobs.lock().expect("no job panics with the list in hand");
            if jobs.get(&work).is_some_and(|job| matches!(job.standing, Standing::Running(..))) {
                return;
            }
            let standing = Standing::Running(0, 1, String::new());
            jobs.insert(work, Job { standing, about: about.into(), stop: Arc::clone(&stop) });
        }
        let all = Arc::clone(self);
        std::thread::spawn(move || {
            let progress = |steps: usize, what: &str| {
                if stop.load(Ordering::Relaxed) {
                    resume_unwind(Box::new(Stopped));
                }
                all.step(work, steps, what);
            };
            let ended = catch_unwind(AssertUnwindSafe(|| run(&progress)));
            let standing = match ended {
                Ok(Ok(page)) => Standing::Done(page),
                Ok(Err(error)) => Standing::Failed(ToldError::of(&error)),
                Err(payload) => unwound(&*payload),
            };
            let mut jobs = all.jobs.lock().expect("no job panics with the list in hand");
            jobs.entry(work).and_modify(|job| job.standing = standing);
            all.ended.notify_all();
        });
    }

    fn step(&self, work: Work, steps: usize, what: &str) {
        let mut jobs = self.jobs.lock().expect("no job panics with the list in hand");
        if let Some(Job { standing: Standing::Running(done, of, now), .. }) = jobs.get_mut(&work) {
            *done += 1;
            *of = steps.max(*done);
            *now = what.into();
        }
    }

    /// Stops a job at its next step. A release that is being published is not stopped.
    pub fn cancel(&self, work: Work) {
        if work == Work::Publish {
            return;
        }
        if let Some(job) = self.jobs.lock().expect("no job panics with the list in hand").get(&work) {
            job.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets a job that ended.
    pub fn forget(&self, work: Work) {
        let mut jobs = self.jobs.lock().expect("no job panics with the list in hand");
        if jobs.get(&work).is_some_and(|job| !matches!(job.standing, Standing::Running(..))) {
            jobs.remove(&work);
        }
    }

    /// Waits until no release is being published.
    pub fn finish_publishing(&self) {
        self.wait(Work::Publish);
    }

    /// Waits a moment, so that short work is done when its page is shown.
    pub fn wait_a_moment(&self, work: Work) {
        let jobs = self.jobs.lock().expect("no job panics with the list in hand");
        let runs = |jobs: &mut BTreeMap<Work, Job>| {
            jobs.get(&work).is_some_and(|job| matches!(job.standing, Standing::Running(..)))
        };
        let moment = Duration::from_millis(150);
        drop(self.ended.wait_timeout_while(jobs, moment, runs).expect("no job panics with the list in hand"));
    }

    /// Waits until no job of this kind runs.
    pub fn wait(&self, work: Work) {
        let jobs = self.jobs.lock().expect("no job panics with the list in hand");
        let runs = |jobs: &mut BTreeMap<Work, Job>| {
            jobs.get(&work).is_some_and(|job| matches!(job.standing, Standing::Running(..)))
        };
        drop(self.ended.wait_while(jobs, runs).expect("no job panics with the list in hand"));
    }
}

/// A job that did not return: a person stopped it, or it is a bug of ours.
fn unwound(payload: &(dyn Any + Send)) -> Standing {
    if payload.is::<Stopped>() {
        return Standing::Cancelled;
    }
    let what = told_of_bug(payload);
    Standing::Failed(ToldError {
        code: RequestFault::Bug.code().into(),
        exit: 70,
        message: format!("this is a bug in tacenda: {what}; the page Ledger lists what was published"),
        page: RequestFault::PAGES
            .iter()
            .find(|page| page.0 == RequestFault::Bug.code())
            .map_or("", |page| page.2)
            .into(),
        ..ToldError::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_job_tells_its_steps_ends_and_is_about_something() {
        let jobs = Arc::new(Jobs::default());
        let (go, wait) = channel::<()>();
        let (said, stepped) = channel::<()>();
        jobs.start(Work::Check, "q1", move |progress| {
            progress(3, "reading");
            said.send(()).unwrap();
            wait.recv().unwrap();
            Ok("page".into())
        });
        stepped.recv().unwrap();
        assert!(matches!(jobs.standing(Work::Check, "q2"), Some(Standing::Running(1, 3, what)) if what == "reading"));
        // A second one of its kind does not start.
        jobs.start(Work::Check, "q2", |_| Ok("other".into()));
        go.send(()).unwrap();
        jobs.wait(Work::Check);
        assert!(matches!(jobs.standing(Work::Check, "q1"), Some(Standing::Done(page)) if page == "page"));
        assert!(jobs.standing(Work::Check, "q2").is_none());
    }

    #[test]
    fn a_cancelled_job_stops_at_its_next_step_and_publishing_does_not() {
        let jobs = Arc::new(Jobs::default());
        for (work, stops) in [(Work::Plan, true), (Work::Publish, false)] {
            let (go, wait) = channel::<()>();
            jobs.start(work, "", move |progress| {
                wait.recv().unwrap();
                progress(2, "writing");
                Ok("written".into())
            });
            jobs.cancel(work);
            go.send(()).unwrap();
            jobs.wait(work);
            assert_eq!(matches!(jobs.any(work), Some(Standing::Cancelled)), stops, "{work:?}");
        }
    }

    #[test]
    fn a_bug_is_told_and_the_next_job_runs() {
        let jobs = Arc::new(Jobs::default());
        jobs.start(Work::Audit, "", |_| panic!("this cannot be"));
        jobs.wait(Work::Audit);
        assert!(
            matches!(jobs.any(Work::Audit), Some(Standing::Failed(told)) if told.message.contains("this cannot be"))
        );
        jobs.start(Work::Audit, "", |_| Ok("fine".into()));
        jobs.wait(Work::Audit);
        assert!(matches!(jobs.any(Work::Audit), Some(Standing::Done(_))));
    }
}
