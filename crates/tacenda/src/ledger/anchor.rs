//! The last known state of a project, remembered outside of it.
//!
//! A project folder that is restored from a backup looks whole, because nothing in it remembers later events. The next
//! release would reuse the number of a published one, and readers could compare the two. So each writer also records,
//! in a folder of its user, how far the ledger went. A ledger that is shorter or different is refused.
//!
//! There is one file per series, named by the commitment to its seed. It is a JSON object with the number of lines and
//! the hash of the last one. It also has the keyed hashes of people who were erased, so that a person who goes on from an older
//! state does not bring them back. Without the vault these hashes say nothing. And it has the project's folder: where a
//! series was published and its ledger is gone, no series of the same name begins again with release 1.

use crate::ledger::disk::may_all_write;
use crate::ledger::{Disk, Erasure, Event, Folder, LedgerError, Publication, RealDisk, Seen, What};
use crate::model::{RecordKey, hex};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where a user's anchors are kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Anchors {
    folder: PathBuf,
    /// What else was seen of the series: it stands in for an anchor that is lost.
    seen: Vec<Seen>,
    /// Whether it is the user's own folder, which nobody chose for a project.
    is_of_user: bool,
}

/// How far a series was seen to go.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The name of the series.
    pub series: String,
    /// How many lines its ledger had.
    pub lines: u64,
    /// The hash of the last.
    pub head: String,
    /// When that line was written.
    pub at: String,
    /// A digest of each release so far and of its table, which is keyed: a release that is made again is recognised.
    #[serde(default)]
    pub releases: Vec<String>,
    /// The keyed hashes of people who were erased, as pairs.
    #[serde(default)]
    pub erased: Vec<(u64, u64)>,
    /// The same of people whose erasure was begun: the line that says so may be there or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erasing: Vec<(u64, u64)>,
    /// How many were erased because they asked for it. Earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// How many of the lines only say that a database has a release. A project that lost such a line has lost nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deliveries: u64,
    /// The project's folder.
    #[serde(default)]
    pub root: PathBuf,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Anchors {
    /// The anchors in a folder of the caller's choice.
    pub fn at(folder: &Path) -> Anchors {
        Anchors { folder: folder.into(), seen: Vec::new(), is_of_user: false }
    }

    /// Whether they lie in a project: a state of it that is put back would take them back too.
    pub fn lie_in(&self, root: &Path) -> bool {
        whole_path(&self.folder).starts_with(whole_path(root))
    }

    /// Refuses a folder in the project that somebody chose. The user's own lies in a project only if that is the whole home
    /// folder, and then nobody could publish without choosing another: there a caution is enough.
    pub fn assert_outside(&self, root: &Path) -> Result<(), LedgerError> {
        match !self.is_of_user && self.lie_in(root) {
            true => Err(LedgerError::AnchorInside { folder: self.folder.clone() }),
            false => Ok(()),
        }
    }

    /// The same, and the ledger must reach this as well.
    #[must_use]
    pub fn and_seen(mut self, seen: Seen) -> Anchors {
        self.seen.push(seen);
        self
    }

    /// What else was seen of the series.
    pub(super) fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// The anchors of the user, in the user's state folder. `None` for a user without a home.
    pub fn of_user() -> Option<Anchors> {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = named("XDG_STATE_HOME")
            .or_else(|| named("LOCALAPPDATA"))
            .or_else(|| named("HOME").map(|home| home.join(".local/state")))?;
        Some(Anchors { is_of_user: true, ..Anchors::at(&state.join("tacenda/anchors")) })
    }

    fn path(&self, commitment: &str) -> PathBuf {
        self.folder.join(format!("{commitment}.json"))
    }

    /// The anchor of a series, if it was ever seen.
    pub(super) fn read(&self, commitment: &str) -> Result<Option<Anchor>, LedgerError> {
        let path = self.path(commitment);
        refuse_open(&self.folder)?;
        refuse_open(&path)?;
        match crate::files::read(&path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(anchor) => Ok(Some(anchor)),
                Err(_) => Err(LedgerError::BadAnchor { file: path }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LedgerError::disk("read", &path, error)),
        }
    }

    /// Whether a series was ever seen.
    pub(super) fn remember(&self, commitment: &str) -> bool {
        self.path(commitment).exists()
    }

    /// Refuses a new series in a folder from which releases of the same name were published, because the ledger of these
    /// is gone.
    pub(crate) fn assert_new(&self, root: &Path, series: &str) -> Result<(), LedgerError> {
        refuse_open(&self.folder)?;
        match self.of_folder(root, series, "").into_iter().max_by(|a, b| a.at.cmp(&b.at)) {
            Some(anchor) => Err(LedgerError::LedgerGone { series: anchor.series, at: anchor.at }),
            None => Ok(()),
        }
    }

    /// The anchors of series of this name that were published from this folder, but for one.
    pub(super) fn of_folder(&self, root: &Path, series: &str, except: &str) -> Vec<Anchor> {
        let root = whole_path(root);
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let own = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        let others = own.filter(|path| path.file_stem().is_none_or(|name| name != except));
        // Anchors of other series may be damaged, and are not asked.
        let anchors = others.filter_map(|path| serde_json::from_slice(&crate::files::read(&path).ok()?).ok());
        let is_it = |anchor: &Anchor| anchor.root == root && anchor.series == series && !anchor.releases.is_empty();
        anchors.filter(is_it).collect()
    }

    /// Moves the anchor of a series to the end of its ledger, whole or not at all. Whoever was erased stays erased.
    pub(super) fn write(
        &self,
        commitment: &str,
        (series, root): (&str, &Path),
        events: &[Event],
        erased: &[RecordKey],
    ) -> Result<(), LedgerError> {
        // A line that says what a database has is no step of the series.
        let Some(last) = events.iter().rev().find(|event| !is_delivery(event)) else { return Ok(()) };
        let events = &events[..last.seq as usize];
        let before = self.read(commitment)?;
        let (before, mut erasing, asked) =
            before.map_or_else(Default::default, |anchor| (anchor.erased, anchor.erasing, anchor.asked));
        let erased: BTreeSet<(u64, u64)> = before.into_iter().chain(pairs(erased)).collect();
        erasing.retain(|key| !erased.contains(key));
        // Whom an older anchor counts was erased, whatever the ledger was set back to since.
        let asked = asked.max(Some(erased_people(events)).filter(|&people| people > 0));
        let anchor = Anchor {
            series: series.into(),
            lines: last.seq,
            head: last.hash.clone(),
            at: last.at.clone(),
            releases: digests_of(events),
            erased: erased.into_iter().collect(),
            erasing,
            asked,
            deliveries: deliveries_in(events),
            root: whole_path(root),
        };
        self.put(commitment, &anchor)
    }

    /// Writes down who is about to be erased, and returns what stood there before. The line that says so comes after this: if power is
    /// lost in between, and an older state is put back, they are erased again. Otherwise nothing would remember them.
    pub(super) fn begin_erasing(&self, commitment: &str, people: &[RecordKey]) -> Result<Option<Anchor>, LedgerError> {
        let Some(before) = self.read(commitment)? else { return Ok(None) };
        let new = pairs(people).filter(|key| before.erased.binary_search(key).is_err());
        let erasing: BTreeSet<(u64, u64)> = before.erasing.iter().copied().chain(new).collect();
        self.put(commitment, &Anchor { erasing: erasing.into_iter().collect(), ..before.clone() })?;
        Ok(Some(before))
    }

    /// Takes back what [`Anchors::begin_erasing`] wrote, where the line is sure not to be there.
    pub(super) fn end_erasing(&self, commitment: &str, before: Anchor) -> Result<(), LedgerError> {
        let Some(now) = self.read(commitment)? else { return Ok(()) };
        // Another writer may have moved the anchor.
        self.put(commitment, &Anchor { erasing: before.erasing, ..now })
    }

    /// Writes an anchor, whole or not at all.
    fn put(&self, commitment: &str, anchor: &Anchor) -> Result<(), LedgerError> {
        let path = self.path(commitment);
        let text = serde_json::to_string_pretty(anchor).expect("texts and numbers become JSON") + "\n";
        let write = || {
            // Others learn nothing of when and from where series are published.
            RealDisk.create_folder(&self.folder, Folder::Private)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            // The name is kept by the folder: without this, power that is lost now takes the anchor back.
            RealDisk.sync_folder(&self.folder)
        };
        write().map_err(|error| LedgerError::disk("write", &path, error))
    }
}

impl Anchor {
    /// The keyed hashes of people who were erased, or whose erasure was begun, sorted.
    pub(super) fn erased(&self) -> Vec<RecordKey> {
        let keys: BTreeSet<RecordKey> =
            self.erased.iter().chain(&self.erasing).map(|&(hi, lo)| RecordKey { hi, lo }).collect();
        keys.into_iter().collect()
    }

    /// How many people were erased because they asked for it.
    pub(super) fn asked(&self) -> u64 {
        self.asked.unwrap_or(self.erased.len() as u64)
    }

    /// Whether the series was last published from this folder.
    pub(super) fn is_of(&self, root: &Path) -> bool {
        self.root == whole_path(root)
    }

    /// Whether a ledger contains the anchored line at its place.
    pub(super) fn is_reached_by(&self, events: &[Event]) -> bool {
        self.lines == 0 || events.get(self.lines as usize - 1).is_some_and(|event| event.hash == self.head)
    }

    /// The releases that a ledger lacks, where it lacks nothing else: made again as they were, they give nothing away.
    pub(super) fn lacking(&self, events: &[Event]) -> Option<Vec<String>> {
        let here = digests_of(events);
        let steps = events.len() as u64 - deliveries_in(events);
        let lines = self.lines.checked_sub(self.deliveries)?.checked_sub(steps)?;
        let lacking = self.releases.strip_prefix(&here[..])?;
        let is_all = lines > 0 && lacking.len() as u64 == lines && lacking.iter().all(|digest| !digest.is_empty());
        // Who was being erased would be in them.
        (is_all && self.erasing.is_empty()).then(|| lacking.to_vec())
    }
}

/// Refuses anchors that everybody may write: somebody could take them back together with the project.
fn refuse_open(path: &Path) -> Result<(), LedgerError> {
    if !may_all_write(path) {
        return Ok(());
    }
    let file = path.display().to_string();
    let way_out = format!("chmod o-w '{}'", file.replace('\'', "'\\''"));
    Err(LedgerError::Loose { file, open: "written by everybody", way_out })
}

/// A path that means the same from everywhere. A project that is no folder has its address.
fn whole_path(root: &Path) -> PathBuf {
    if root.to_string_lossy().contains("://") {
        return root.into();
    }
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let whole = std::path::absolute(root).unwrap_or_else(|_| root.into());
    // Where the folder is gone, what is left of its path may still go through links.
    let real = |above: &Path| {
        let real = above.canonicalize().ok()?;
        Some(whole.strip_prefix(above).ok()?.components().fold(real, |path, part| path.join(part)))
    };
    whole.ancestors().find_map(real).unwrap_or_else(|| whole.clone())
}

fn pairs(keys: &[RecordKey]) -> impl Iterator<Item = (u64, u64)> {
    keys.iter().map(|key| (key.hi, key.lo))
}

/// How many people were erased because they asked for it.
pub(super) fn erased_people(events: &[Event]) -> u64 {
    let erased = |event: &Event| match event.what {
        What::Erase(Erasure { people, retain: None, .. }) => people,
        _ => 0,
    };
    events.iter().map(erased).sum()
}

fn is_delivery(event: &Event) -> bool {
    matches!(event.what, What::Deliver(_))
}

fn deliveries_in(events: &[Event]) -> u64 {
    events.iter().filter(|event| is_delivery(event)).count() as u64
}

fn digests_of(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(Event::publication).map(digest_of).collect()
}

/// A digest of the rows of a release and of the table it was made from: other people can give the same rows. What is written
/// about a release has its date and its place in the ledger in it, and these differ when it is made again. Empty where the
/// ledger does not know the table, as for releases made elsewhere.
pub(super) fn digest_of(publication: &Publication) -> String {
    let Some(table) = &publication.input else { return String::new() };
    let is_data = |name: &str| name.ends_with(".csv") || name.ends_with(".parquet");
    let files = publication.files.iter().filter(|(name, _)| is_data(name));
    let lines: String = files.map(|(name, digest)| format!("{name} {}\n", digest.sha256)).collect();
    hex(blake3::hash(format!("{table}\n{lines}").as_bytes()).as_bytes())
}
