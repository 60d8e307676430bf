//! A project folder: its ledger, its vault, its releases.

use crate::keys::{Introduction, KeyError, Signer, Trust};
use crate::ledger::anchor::{digest_of, erased_people};
use crate::ledger::head::Head;
use crate::ledger::line::{FORMAT, LEDGER, NO_HASH, PLAIN_FORMAT};
use crate::ledger::reseal::write_key;
use crate::ledger::sealed::{KEY, is_sealed};
use crate::ledger::staging::{STAGING, staged_name};
use crate::ledger::vault::{InMemory, PEOPLE_PER_PART, VAULT, Vault};
use crate::ledger::{
    Amendment, Anchor, Anchors, Approval, Delivery, Disk, Erasure, Event, FileKind, Folder, Init, LedgerError,
    LineNumbers, Lock, People, Publication, PublishedTo, Scratch, Seen, Staging, What, recover, vault,
};
use crate::model::{History, Record, RecordKey, Seed, Table, hex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a project is set up with.
#[derive(Clone, Debug)]
pub struct NewProject<'a> {
    /// The name of the series; it names the folder of the releases.
    pub series: &'a str,
    /// The secret all randomness comes from.
    pub seed: Seed,
    /// The key of the vault, wrapped for those who may open it. The disk seals with it. `None` for a vault in the clear.
    pub wrapped_key: Option<&'a [u8]>,
    /// The digest of the policy.
    pub policy_digest: &'a str,
    /// The policy in its canonical form; kept in the vault.
    pub policy_canonical: &'a str,
    /// Now, as text.
    pub at: &'a str,
}

/// What is committed with a staged release. Everything except `history`, `snapshot`, `people` and `policy_canonical` is
/// public, in the ledger.
#[derive(Clone)]
pub struct Commit<'a> {
    /// The steward's name for the release.
    pub label: &'a str,
    /// What is claimed of the series.
    pub promise: Value,
    /// What can be counted in the published files.
    pub numbers: LineNumbers,
    /// The digest of the policy.
    pub policy_digest: &'a str,
    /// The policy in its canonical form; kept in the vault.
    pub policy_canonical: &'a str,
    /// A keyed digest of the table it was made from.
    pub input: Option<String>,
    /// A keyed digest of the bytes that were read.
    pub source: Option<String>,
    /// The history after this release.
    pub history: &'a History,
    /// The snapshot it was made from. Everyone in it is in the history.
    pub snapshot: &'a Table,
    /// The people of both, if they are not in memory.
    pub people: Option<&'a dyn People>,
    /// Whether the release was made elsewhere.
    pub adopted: bool,
    /// What the policy's columns have gained since the release before.
    pub amended: Vec<Amendment>,
    /// Who approved the plan that it was made from.
    pub approved: Option<Approval>,
    /// Now, as text.
    pub at: &'a str,
}

/// How many people are forgotten, and why.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Forgotten {
    /// How many.
    pub people: u64,
    /// Because they left so many releases ago; otherwise because somebody asked.
    pub retain: Option<u32>,
}

/// A project folder, open for reading or for writing.
pub struct Store {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) root: PathBuf,
    pub(super) events: Vec<Event>,
    /// How many bytes of the ledger hold whole lines.
    pub(super) whole: u64,
    /// The secret that all randomness comes from; `None` if the vault is absent.
    pub(super) seed: Option<Seed>,
    pub(super) lock: Option<Box<dyn Lock>>,
    /// The anchors outside of the project that record the end of the ledger.
    anchors: Option<Anchors>,
    /// Signs every line from now on.
    signer: Option<Arc<Signer>>,
    /// Who was erased since this store was opened, and before: for the anchor.
    erased: Vec<RecordKey>,
    /// Where the ledger is behind its anchor: the anchor, and the releases that may follow, by their digests.
    owed: Option<(Anchor, Vec<String>)>,
    /// Marks the files that this store writes: another writer, unseen, writes others.
    attempt: String,
    /// How many people one file of the vault holds at most.
    per_part: usize,
    pub(super) poisoned: bool,
}

impl Store {
    /// Sets up a project. It refuses if one exists, and removes what a crash left of an earlier attempt.
    pub fn init(disk: Arc<dyn Disk>, root: &Path, new: NewProject<'_>) -> Result<Store, LedgerError> {
        if !is_folder_name(new.series) {
            return Err(LedgerError::SeriesName);
        }
        let own = root.join(".tacenda");
        let is_new = !disk.exists(&own).map_err(|error| LedgerError::disk("read", &own, error))?;
        let result = Store::try_init(Arc::clone(&disk), root, new);
        match &result {
            Err(LedgerError::Locked { .. } | LedgerError::Uncertain { .. } | LedgerError::Unfinished { .. }) => {}
            // If this fails, the next attempt removes it.
            Err(_) if is_new => drop(disk.remove_folder(&own)),
            _ => {}
        }
        result
    }

    /// Whether a project was begun here and never set up, because power was lost meanwhile. [`Store::init`] begins it again.
    pub fn is_unborn(disk: &dyn Disk, root: &Path) -> Result<bool, LedgerError> {
        recover::is_unborn(disk, root)
    }

    fn try_init(disk: Arc<dyn Disk>, root: &Path, new: NewProject<'_>) -> Result<Store, LedgerError> {
        create_folders(&*disk, root)?;
        let lock = recover::lock(&*disk, root)?;
        recover::clear_for_init(&*disk, root, new.series)?;
        let vault = Vault::new(&*disk, root, &new.seed);
        let attempt = FIRST_ATTEMPT.to_string();
        if let Some(wrapped) = new.wrapped_key {
            assert!(disk.opens_vault(), "what is written is sealed with the key that is kept");
            write_key(&*disk, root, KEY, wrapped)?;
        }
        Head::none().prepare(&*disk, root, &attempt)?;
        Head::take(&*disk, root, &attempt)?;
        let policy = vault::name("policy", 0, &attempt);
        let files = BTreeMap::from([
            (vault::SEED.to_string(), vault.write_seed(&new.seed)?),
            (policy.clone(), vault.write(&policy, &|out| Ok(out.write_all(new.policy_canonical.as_bytes())?))?),
        ]);
        let init = Init {
            format: if new.wrapped_key.is_some() { FORMAT } else { PLAIN_FORMAT },
            series: new.series.into(),
            seed_commitment: vault::commitment(&new.seed),
            policy_digest: new.policy_digest.into(),
            vault: files,
        };
        let mut store = Store {
            disk,
            root: root.into(),
            events: Vec::new(),
            whole: 0,
            seed: Some(new.seed),
            lock: Some(lock),
            anchors: None,
            signer: None,
            erased: Vec::new(),
            owed: None,
            attempt,
            per_part: PEOPLE_PER_PART,
            poisoned: false,
        };
        store.append(new.at, What::Init(init), None)?;
        store.attempt = new_attempt(root)?;
        Ok(store)
    }

    /// Opens a project for reading. It takes no lock, writes nothing, and sees committed state only.
    pub fn open_read(disk: Arc<dyn Disk>, root: &Path) -> Result<Store, LedgerError> {
        let found = recover::look(&*disk, root)?;
        let seed = vault::read_seed(&*disk, root, &found.events)?;
        Ok(Store {
            disk,
            root: root.into(),
            events: found.events,
            whole: found.whole,
            seed: Some(seed),
            lock: None,
            anchors: None,
            signer: None,
            erased: Vec::new(),
            owed: None,
            attempt: String::new(),
            per_part: PEOPLE_PER_PART,
            poisoned: false,
        })
    }

    /// Opens the public part of a project, with or without its vault. An auditor has no vault.
    pub fn open_look(disk: Arc<dyn Disk>, root: &Path) -> Result<Store, LedgerError> {
        let vault = root.join(VAULT);
        let has_vault = disk.exists(&vault).map_err(|error| LedgerError::disk("read", &vault, error))?;
        if has_vault && !disk.opens_vault() && is_sealed(&*disk, root) {
            // How far the ledger went is known without the key.
            let found = recover::look(&*disk, root)?;
            return Ok(Store::looking(disk, root, found));
        }
        match has_vault.then(|| Store::open_read(Arc::clone(&disk), root)) {
            // We may not read another user's vault, but we may read the releases.
            Some(Err(LedgerError::Disk { source, .. })) if source.kind() == io::ErrorKind::PermissionDenied => {}
            Some(opened) => return opened,
            None => {}
        }
        Store::open_outside(disk, root)
    }

    /// Opens the public part of a project whose vault lacks files.
    pub fn open_outside(disk: Arc<dyn Disk>, root: &Path) -> Result<Store, LedgerError> {
        let found = recover::look_outside(&*disk, root)?;
        Ok(Store::looking(disk, root, found))
    }

    /// A store without access to the vault.
    fn looking(disk: Arc<dyn Disk>, root: &Path, found: recover::Found) -> Store {
        Store {
            disk,
            root: root.into(),
            events: found.events,
            whole: found.whole,
            seed: None,
            lock: None,
            anchors: None,
            signer: None,
            erased: Vec::new(),
            owed: None,
            attempt: String::new(),
            per_part: PEOPLE_PER_PART,
            poisoned: false,
        }
    }

    /// Whether the vault is there.
    pub fn has_vault(&self) -> bool {
        self.seed.is_some()
    }

    /// Opens a project for writing: takes the lock, then finishes or removes what a crash left.
    pub fn open_write(disk: Arc<dyn Disk>, root: &Path) -> Result<Store, LedgerError> {
        if !disk.exists(&root.join(LEDGER)).map_err(|error| LedgerError::disk("read", root, error))? {
            // Checked before a lock file is made, so that a folder that is no project stays unchanged.
            recover::look(&*disk, root)?;
        }
        let lock = recover::lock(&*disk, root)?;
        if disk.opens_vault() && !is_sealed(&*disk, root) {
            // Unlocked since the key was read: nobody would have the key of what this writer seals.
            return Err(LedgerError::Overtaken);
        }
        let found = recover::look(&*disk, root)?;
        let seed = vault::read_seed(&*disk, root, &found.events)?;
        let attempt = new_attempt(root)?;
        let settled = recover::settle(&*disk, root, &found, &attempt);
        settled.map_err(|error| recover::or_overtaken(&*disk, root, found.whole, error))?;
        Ok(Store {
            disk,
            root: root.into(),
            events: found.events,
            whole: found.whole,
            seed: Some(seed),
            lock: Some(lock),
            anchors: None,
            signer: None,
            erased: Vec::new(),
            owed: None,
            attempt,
            per_part: PEOPLE_PER_PART,
            poisoned: false,
        })
    }

    /// Compares the ledger with its anchor, and moves the anchor with every line from now on. A ledger behind its
    /// anchor is refused, unless a person gives a reason to continue. The reason goes into the ledger.
    pub fn hold_against(&mut self, anchors: &Anchors, at: &str, accepted: Option<&str>) -> Result<(), LedgerError> {
        self.assert_writer();
        // What nobody could read later is no reason.
        let accepted = accepted.map(str::trim).filter(|reason| !reason.is_empty());
        let mut behind = Vec::new();
        if let Some(anchor) = self.is_behind(anchors)? {
            match anchor.lacking(&self.events) {
                // Only what followed then may follow now; the anchor stays where it is until all of it is here again.
                Some(releases) if accepted.is_none() => self.owed = Some((anchor, releases)),
                // Before the first release nothing can remember whom to leave out.
                _ if self.releases() == 0 && !anchor.erased().is_empty() => {
                    return Err(self.rolled_back(anchor.lines, &anchor.at));
                }
                _ => {
                    let error = self.rolled_back(anchor.lines, &anchor.at);
                    behind.push((error, anchor.lines, anchor.head));
                }
            }
        }
        for other in self.others_here(anchors) {
            let error = LedgerError::OtherLedger { series: other.series, at: other.at };
            behind.push((error, other.lines, other.head));
        }
        for seen in anchors.seen() {
            let (lines, head) = seen.reached();
            behind.extend(seen.hold(self).err().map(|error| (error, lines, head.to_string())));
        }
        // What is no receipt of this series cannot be accepted either.
        let cannot = |error: &LedgerError| accepted.is_none() || matches!(error, LedgerError::BadReceipt { .. });
        if let Some(place) = behind.iter().position(|(error, _, _)| cannot(error)) {
            return Err(behind.swap_remove(place).0);
        }
        self.refuse_unerased(anchors)?;
        self.anchors = Some(anchors.clone());
        behind.dedup_by(|a, b| a.2 == b.2);
        for (_, lines, head) in behind {
            let because = accepted.unwrap_or_default().into();
            self.append(at, What::Rollback { because, lines, head }, None)?;
        }
        let seen = anchors.read(self.seed_commitment())?.map_or(0, |anchor| anchor.lines);
        let is_news = |event: &Event| event.seq > seen && matches!(event.what, What::Erase(_));
        if self.events.iter().any(is_news) {
            // The anchor was lost, or power was lost before it was moved.
            self.erased = self.history()?.erased;
        }
        if self.owed.is_some() { Ok(()) } else { self.anchor() }
    }

    /// Refuses a ledger that is behind its anchor. Writes nothing.
    pub fn compare_with(&self, anchors: &Anchors) -> Result<(), LedgerError> {
        if let Some(anchor) = self.is_behind(anchors)? {
            return Err(self.rolled_back(anchor.lines, &anchor.at));
        }
        if let Some(other) = self.others_here(anchors).pop() {
            return Err(LedgerError::OtherLedger { series: other.series, at: other.at });
        }
        anchors.seen().iter().try_for_each(|seen| seen.hold(self))
    }

    /// Anchors of other series that have the same name and were published from this folder: this ledger may have taken the place of
    /// theirs. What a person has accepted before is not asked again.
    fn others_here(&self, anchors: &Anchors) -> Vec<Anchor> {
        let others = anchors.of_folder(&self.root, self.series(), self.seed_commitment());
        others.into_iter().filter(|other| !self.has_accepted(&other.head)).collect()
    }

    /// Refuses to go on behind a receipt that counts more people who were erased than are erased here: nothing says who they are.
    fn refuse_unerased(&self, anchors: &Anchors) -> Result<(), LedgerError> {
        let behind = anchors.seen().iter().filter(|seen| seen.hold(self).is_err());
        let wanted = behind.map(Seen::erased).max().unwrap_or(0);
        // Those whom the anchor knows are erased again before anything is published.
        let anchor = anchors.read(self.seed_commitment())?;
        let found = anchor.map_or(0, |anchor| anchor.asked()).max(self.erased_people());
        if wanted > found { Err(LedgerError::Unerased { wanted, found }) } else { Ok(()) }
    }

    /// How many people were erased because they asked for it.
    pub fn erased_people(&self) -> u64 {
        erased_people(&self.events)
    }

    /// Whether the ledger does not reach what stands in for a lost anchor.
    pub fn is_behind_stand_in(&self, anchors: &Anchors) -> bool {
        let is_lacking =
            |error: LedgerError| matches!(error, LedgerError::RolledBack { .. } | LedgerError::LacksRelease { .. });
        anchors.seen().iter().filter_map(|seen| seen.hold(self).err()).any(is_lacking)
    }

    /// Whether an anchor says that the series was last published from this very folder.
    pub fn is_published_from_here(&self, anchors: &Anchors) -> bool {
        let anchor = anchors.read(self.seed_commitment()).ok().flatten();
        anchor.is_some_and(|anchor| anchor.is_of(&self.root))
    }

    /// Whether there is a folder of the vault, open to us or not.
    pub fn has_vault_folder(&self) -> bool {
        self.disk.exists(&self.root.join(VAULT)).unwrap_or(false)
    }

    /// Whether an anchor remembers this series.
    pub fn is_remembered(&self, anchors: &Anchors) -> bool {
        anchors.remember(self.seed_commitment())
    }

    /// Whether the vault is there and not encrypted.
    pub fn has_plain_vault(&self) -> bool {
        self.has_vault() && !is_sealed(&*self.disk, &self.root)
    }

    /// The id of the key that signed the last line which is signed.
    pub fn last_signer(&self) -> Option<&str> {
        self.events.iter().rev().find_map(|event| event.signer.as_ref()).map(|signer| signer.key.as_str())
    }

    /// Whether a person has accepted to go on without what is known by this hash.
    pub(super) fn has_accepted(&self, hash: &str) -> bool {
        self.events.iter().any(|event| matches!(&event.what, What::Rollback { head, .. } if head == hash))
    }

    /// The anchor that the ledger does not reach, unless a person has accepted that.
    fn is_behind(&self, anchors: &Anchors) -> Result<Option<Anchor>, LedgerError> {
        let anchor = anchors.read(self.seed_commitment())?;
        Ok(anchor.filter(|anchor| !anchor.is_reached_by(&self.events) && !self.has_accepted(&anchor.head)))
    }

    pub(super) fn rolled_back(&self, wanted: u64, at: &str) -> LedgerError {
        let (found, next) = (self.events.len() as u64, self.releases() + 1);
        LedgerError::RolledBack { found, wanted, at: at.into(), next }
    }

    /// Refuses a line that did not follow when the ledger went this far before.
    fn refuse_other(&self, what: &What) -> Result<(), LedgerError> {
        let Some((anchor, releases)) = &self.owed else { return Ok(()) };
        let is_it = match what {
            What::Publish(publication) | What::Adopt(publication) => digest_of(publication) == releases[0],
            What::Init(_) | What::Erratum { .. } | What::Erase(_) | What::Retract { .. } | What::Rollback { .. } => {
                false
            }
            // What a database has changes nothing about the series.
            What::Deliver(_) => true,
        };
        if is_it { Ok(()) } else { Err(self.rolled_back(anchor.lines, &anchor.at)) }
    }

    /// Moves the anchor to the last line, unless releases are still lacking that it knows of.
    fn anchor(&mut self) -> Result<(), LedgerError> {
        let is_delivery = matches!(self.events.last().map(|event| &event.what), Some(What::Deliver(_)));
        if let Some((_, releases)) = &mut self.owed {
            if is_delivery {
                return Ok(());
            }
            releases.remove(0);
            if !releases.is_empty() {
                return Ok(());
            }
            self.owed = None;
        }
        let anchors = self.anchors.as_ref();
        anchors.map_or(Ok(()), |anchors| {
            anchors.write(self.seed_commitment(), (self.series(), &self.root), &self.events, &self.erased)
        })
    }

    /// Who is to be erased again: those who were erased after the state that a person went on from, in writing; and those whose
    /// erasure was cut off. Not before the releases are here again that the anchor knows of.
    pub fn erased_elsewhere(&self) -> Result<Vec<RecordKey>, LedgerError> {
        let Some(anchors) = self.anchors.as_ref().filter(|_| self.owed.is_none()) else { return Ok(Vec::new()) };
        let Some(anchor) = anchors.read(self.seed_commitment())? else { return Ok(Vec::new()) };
        let went_back = self.events.iter().any(|event| matches!(event.what, What::Rollback { .. }));
        if !went_back && anchor.erasing.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.history()?;
        Ok(anchor.erased().into_iter().filter(|&key| !known.is_erased(key)).collect())
    }

    /// Tells the anchor who is erased, before the line does.
    fn begin_erasing(&self, what: &What) -> Result<Option<Anchor>, LedgerError> {
        match (&self.anchors, what) {
            (Some(anchors), What::Erase(_)) => anchors.begin_erasing(self.seed_commitment(), &self.erased),
            _ => Ok(None),
        }
    }

    /// Signs every line from now on.
    pub fn sign_with(&mut self, signer: Arc<Signer>) {
        self.signer = Some(signer);
    }

    /// The key that signs, if there is one.
    pub fn signer(&self) -> Option<&Arc<Signer>> {
        self.signer.as_ref()
    }

    /// The introduction of the signer in the next line. It has the whole key only if no earlier line has it.
    fn introduction(&self, signer: &Signer) -> Introduction {
        let whole = signer.introduction();
        let is_known = |event: &Event| {
            event.signer.as_ref().is_some_and(|known| known.public_key.is_some() && known.key == whole.key)
        };
        match self.events.iter().any(is_known) {
            true => Introduction { key: whole.key, public_key: None, lineage: Vec::new() },
            false => whole,
        }
    }

    /// Checks the signatures of all lines, and returns every fault. A signed line vouches for the lines before it, and
    /// no unsigned line may follow. Keys that a trusted key signed are trusted too.
    pub fn check_signatures(&self, trust: &mut Trust) -> Vec<KeyError> {
        self.events.iter().filter_map(|event| event.signer.as_ref()).for_each(|signer| trust.follow(signer));
        let mut faults = Vec::new();
        let mut covered = 0;
        for event in &self.events {
            match event.check_signature(trust) {
                Ok(true) => covered = event.seq,
                Ok(false) => {}
                Err(error) => {
                    covered = event.seq;
                    faults.push(error);
                }
            }
        }
        if covered < self.events.len() as u64 {
            faults.push(KeyError::Unsigned { what: format!("{LEDGER} from line {} on", covered + 1) });
        }
        faults
    }

    /// The project folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Everything that happened, in order. The first event sets up the project.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The releases, in order.
    pub fn publications(&self) -> impl Iterator<Item = &Publication> {
        self.events.iter().filter_map(Event::publication)
    }

    /// The id of the key that signed the line of a release.
    pub fn signed_by(&self, number: u32) -> Option<&str> {
        let is_it = |event: &&Event| event.publication().is_some_and(|publication| publication.number == number);
        self.events.iter().find(is_it)?.signer.as_ref().map(|signer| signer.key.as_str())
    }

    /// How many releases there are.
    pub fn releases(&self) -> u32 {
        self.publications().count() as u32
    }

    /// The hash of the last line.
    pub fn head(&self) -> &str {
        self.events.last().map_or(NO_HASH, |event| &event.hash)
    }

    /// The name of the series.
    pub fn series(&self) -> &str {
        series(&self.events)
    }

    /// The secret all randomness comes from, if the vault is there.
    pub fn seed(&self) -> Result<&Seed, LedgerError> {
        self.seed.as_ref().ok_or_else(|| LedgerError::VaultMissing { file: vault::shown(vault::SEED) })
    }

    /// The commitment to the seed in the first line.
    pub fn seed_commitment(&self) -> &str {
        match self.events.first().map(|event| &event.what) {
            Some(What::Init(init)) => &init.seed_commitment,
            _ => unreachable!("the first line of every ledger sets up the project"),
        }
    }

    /// The folder of a release, whether it exists or not.
    pub fn release_folder(&self, number: u32) -> PathBuf {
        self.root.join(release_name(self.series(), number))
    }

    /// A file of a release, from where the releases are. It may be gone, or not be what was published.
    pub fn release_file(&self, number: u32, name: &str) -> io::Result<Vec<u8>> {
        let path = self.release_folder(number).join(name);
        match self.disk.status(&path)?.kind {
            FileKind::File => self.disk.read(&path),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The policy of the last release, or of the project's beginning: its digest and canonical form.
    pub fn policy(&self) -> Result<(String, String), LedgerError> {
        let digest = self.events.iter().rev().find_map(|event| match &event.what {
            What::Init(init) => Some(init.policy_digest.clone()),
            What::Publish(publication) | What::Adopt(publication) => Some(publication.policy_digest.clone()),
            What::Retract { .. } | What::Erratum { .. } | What::Rollback { .. } | What::Erase(_) | What::Deliver(_) => {
                None
            }
        });
        let name = vault::find(self.state(), "policy", self.releases())?;
        let bytes = self.reading(self.vault()?.read(self.state(), name))?;
        let canonical = String::from_utf8(bytes)
            .map_err(|_| LedgerError::Vault { file: vault::shown(name), fault: "it is not text" })?;
        Ok((digest.expect("the first line has one"), canonical))
    }

    /// Everything known of the series so far.
    pub fn history(&self) -> Result<History, LedgerError> {
        match self.releases() {
            0 => Ok(History::default()),
            number => self.reading(self.vault()?.read_history(self.state(), number)),
        }
    }

    /// The snapshot the last release was made from; `None` before the first.
    pub fn snapshot(&self) -> Result<Option<Table>, LedgerError> {
        match self.releases() {
            0 => Ok(None),
            number => self.reading(self.vault()?.read_snapshot(self.state(), number)).map(Some),
        }
    }

    /// Everything known of the series without the records of people, and in how many parts these are kept.
    pub fn past(&self) -> Result<(History, usize), LedgerError> {
        match self.releases() {
            0 => Ok((History::default(), 1)),
            number => self.reading(self.vault()?.read_past(self.state(), number)),
        }
    }

    /// The records of a part.
    ///
    /// # Panics
    /// Before the first release.
    pub fn past_records(&self, part: usize, parts: usize) -> Result<Vec<Record>, LedgerError> {
        let number = self.releases();
        assert!(number > 0, "before the first release nobody is kept");
        self.reading(self.vault()?.read_records(self.state(), number, (part, parts)))
    }

    /// The records of a part, and its rows of the last snapshot.
    ///
    /// # Panics
    /// Before the first release.
    pub fn past_part(&self, part: usize, parts: usize) -> Result<(Vec<Record>, Table), LedgerError> {
        let records = self.past_records(part, parts)?;
        let (number, vault) = (self.releases(), self.vault()?);
        Ok((records, self.reading(vault.read_rows(self.state(), number, (part, parts)))?))
    }

    /// Files for people while a release is made. They are private, encrypted where the vault is, and gone when this is
    /// dropped; after a crash the next open for writing removes them.
    pub fn scratch(&self) -> Scratch {
        self.assert_writer();
        Scratch::new(Arc::clone(&self.disk), self.root.join(VAULT), self.attempt.clone())
    }

    /// How many people one file of the vault holds at most. It changes no release.
    pub fn people_per_part(&self) -> usize {
        self.per_part
    }

    /// Sets how many people one file of the vault holds at most.
    pub fn set_people_per_part(&mut self, people: usize) {
        self.per_part = people.max(1);
    }

    /// Keeps the table of a plan in the vault. Returns the files and their digests, which are keyed and so reveal
    /// nothing.
    pub fn keep_planned(&self, name: &str, table: &Table) -> Result<BTreeMap<String, String>, LedgerError> {
        let files = self.vault()?.write_planned(name, table)?;
        if recover::look(&*self.disk, &self.root)?.whole > self.whole {
            // Somebody who is in this table may have been erased meanwhile.
            for path in files.keys().map(|name| self.root.join(VAULT).join(name)) {
                self.disk.remove_file(&path).map_err(|error| LedgerError::disk("remove", &path, error))?;
            }
            // What the erasure synced would come back with a power cut.
            let vault = self.root.join(VAULT);
            self.disk.sync_folder(&vault).map_err(|error| LedgerError::disk("sync", &vault, error))?;
            return Err(LedgerError::MovedOn);
        }
        Ok(files)
    }

    /// Removes the tables of all plans.
    pub fn forget_plans(&self) -> Result<(), LedgerError> {
        self.assert_writer();
        self.vault()?.remove_planned()
    }

    /// The table of a plan, if the vault has it unchanged.
    pub fn planned(&self, files: &BTreeMap<String, String>) -> Result<Table, LedgerError> {
        self.vault()?.read_planned(files)
    }

    /// A folder to put the next release in.
    ///
    /// # Panics
    /// If the project is open for reading, or `number` is not the next one.
    pub fn stage(&self, number: u32) -> Result<Staging, LedgerError> {
        self.assert_writer();
        assert_eq!(number, self.releases() + 1, "releases follow each other");
        if self.poisoned {
            return Err(LedgerError::Poisoned);
        }
        let parent = self.root.join(STAGING);
        let folder = parent.join(staged_name(number, &self.attempt));
        let fault = |error| LedgerError::disk("create", &folder, error);
        if !self.disk.exists(&parent).map_err(fault)? {
            // A backup has no such folder. Its own name must last, or a power cut would take a committed release with it.
            self.disk.create_folder(&parent, Folder::Private).map_err(fault)?;
            self.disk.sync_folder(&self.root.join(".tacenda")).map_err(fault)?;
        }
        if self.disk.exists(&folder).map_err(fault)? {
            self.disk.remove_folder(&folder).map_err(fault)?;
        }
        // Created first, so that it removes the folder if the next steps fail.
        let staging = Staging::new(Arc::clone(&self.disk), folder.clone(), number);
        self.disk.create_folder(&folder, Folder::Plain).map_err(fault)?;
        self.disk.sync_folder(&parent).map_err(fault)?;
        Ok(staging)
    }

    /// Commits a staged release. On `Ok` it is published. On an error it is not, unless the error says so; then the
    /// next open for writing finishes it. After an error this store writes nothing more.
    ///
    /// # Panics
    /// If `commit` does not belong to the staged release.
    pub fn commit(&mut self, staging: Staging, commit: Commit<'_>) -> Result<&Event, LedgerError> {
        self.assert_writer();
        assert_eq!(staging.number(), self.releases() + 1, "releases follow each other");
        assert_eq!(commit.history.releases, staging.number(), "the history is the one after this release");
        self.or_poison(|store| store.try_commit(staging, commit))?;
        Ok(self.events.last().expect("it was just added"))
    }

    /// Writes, and after an error nothing more: the disk may not be what this store thinks it is.
    fn or_poison(&mut self, write: impl FnOnce(&mut Store) -> Result<(), LedgerError>) -> Result<(), LedgerError> {
        if self.poisoned {
            return Err(LedgerError::Poisoned);
        }
        let result = write(self).map_err(|error| self.or_overtaken(error));
        self.poisoned = result.is_err();
        result
    }

    /// Records an erratum about earlier releases. The state does not change.
    pub fn correct(&mut self, at: &str, text: &str) -> Result<(), LedgerError> {
        self.assert_writer();
        self.append(at, What::Erratum { text: text.into() }, None)
    }

    /// Writes the state of the last release anew, without some people, and a line that says how many. The files before it are
    /// gone when this returns `Ok`, and so are the tables of plans.
    pub fn forget(
        &mut self,
        at: &str,
        forgotten: Forgotten,
        history: &History,
        snapshot: &Table,
    ) -> Result<(), LedgerError> {
        self.assert_writer();
        assert_eq!(history.releases, self.releases(), "the state stays that of the last release");
        self.or_poison(|store| {
            let (_, policy) = store.policy()?;
            // First: a plan that is lost is made again, and one that stays would keep the people.
            store.vault()?.remove_planned()?;
            let (vault, people) = (store.vault()?, InMemory(history, snapshot));
            let rows = store.publications().last().map_or(0, |publication| publication.numbers.rows);
            let rows = (store.releases(), rows);
            let written = vault.write_state(rows, &store.attempt, history, snapshot, &people, &policy);
            let mut vault = written.inspect_err(|_| store.discard())?;
            let seed = store.events[0].vault().expect("the first line has files")[vault::SEED].clone();
            vault.insert(vault::SEED.into(), seed);
            let Forgotten { people, retain } = forgotten;
            store.erased = history.erased.clone();
            store.append(at, What::Erase(Erasure { people, retain, vault }), None)?;
            let seq = store.events.len() as u64;
            let unfinished = |source| LedgerError::Unfinished { seq, source: Box::new(source) };
            recover::sweep_vault(&*store.disk, &store.root).map_err(unfinished)?;
            // Again: a plan takes no lock, and may have been made since.
            store.vault()?.remove_planned().map_err(unfinished)?;
            // They may be in what a publish that failed had staged. It was removed, and a power cut must not bring it back.
            let staging = store.root.join(STAGING);
            let is_there = store.disk.exists(&staging);
            let synced = is_there.and_then(|there| if there { store.disk.sync_folder(&staging) } else { Ok(()) });
            synced.map_err(|error| unfinished(LedgerError::disk("sync", &staging, error)))?;
            // The next files of this store must not have the names of these.
            store.attempt = new_attempt(&store.root)?;
            Ok(())
        })
    }

    /// Writes down that a release is withdrawn. The state stays: what it gave away stays counted.
    pub fn retract(&mut self, at: &str, release: u32, because: &str) -> Result<(), LedgerError> {
        self.assert_writer();
        let details = serde_json::json!({ "release": release, "because": because });
        self.append(at, What::Retract { details }, None)
    }

    /// Writes down that a database has a release, or has marked it as withdrawn.
    pub fn delivered(&mut self, at: &str, delivery: Delivery) -> Result<(), LedgerError> {
        self.assert_writer();
        self.append(at, What::Deliver(delivery), None)
    }

    /// All deliveries, the oldest first.
    pub fn deliveries(&self) -> impl Iterator<Item = &Delivery> {
        self.events.iter().filter_map(|event| match &event.what {
            What::Deliver(delivery) => Some(delivery),
            _ => None,
        })
    }

    /// The retracted releases: number, time and reason.
    pub fn retracted(&self) -> Vec<(u32, &str, &str)> {
        self.events
            .iter()
            .filter_map(|event| {
                let What::Retract { details } = &event.what else { return None };
                let because = details["because"].as_str().unwrap_or_default();
                Some((details["release"].as_u64()? as u32, event.at.as_str(), because))
            })
            .collect()
    }

    fn try_commit(&mut self, staging: Staging, commit: Commit<'_>) -> Result<(), LedgerError> {
        let number = staging.number();
        let files = staging.seal()?;
        let (history, snapshot) = (commit.history, commit.snapshot);
        let in_memory = InMemory(history, snapshot);
        let people = commit.people.unwrap_or(&in_memory);
        let (vault, policy) = (self.vault()?, commit.policy_canonical);
        let rows = (number, commit.numbers.rows);
        let written = vault.write_state(rows, &self.attempt, history, snapshot, people, policy);
        let mut vault = written.inspect_err(|_| self.discard())?;
        let seed = self.events[0].vault().expect("the first line has files")[vault::SEED].clone();
        vault.insert(vault::SEED.into(), seed);
        let publication = Publication {
            number,
            label: commit.label.into(),
            promise: commit.promise,
            policy_digest: commit.policy_digest.into(),
            numbers: commit.numbers,
            view: view_of(commit.history),
            taken_in: self.taken_in(commit.history),
            input: commit.input,
            source: commit.source,
            amended: commit.amended,
            approved: commit.approved,
            files,
            vault,
        };
        let what = if commit.adopted { What::Adopt(publication) } else { What::Publish(publication) };
        self.append(commit.at, what, Some(staging))
    }

    /// The views made elsewhere that no line names yet.
    fn taken_in(&self, history: &History) -> Vec<PublishedTo> {
        let known = |name: &str| self.publications().any(|line| line.taken_in.iter().any(|view| view.name == name));
        let new = history.views.iter().filter(|view| view.release == 0 && !known(&view.name));
        new.map(|view| PublishedTo { name: view.name.clone(), recipients: view.recipients.clone() }).collect()
    }

    /// Appends a line: the commit. Then puts the staged folder and the head in place.
    fn append(&mut self, at: &str, what: What, mut staging: Option<Staging>) -> Result<(), LedgerError> {
        let seq = self.events.len() as u64 + 1;
        let signer = self.signer.clone();
        let signer = signer.as_deref().map(|signer| (signer, self.introduction(signer)));
        let (event, bytes) = Event::next(seq, self.head(), at, what, signer);
        let prepared = self.refuse_other(&event.what);
        let prepared = prepared.and_then(|()| self.prepare(&event)).and_then(|()| self.refuse_overtaken());
        let prepared = prepared.and_then(|()| self.begin_erasing(&event.what));
        let before = prepared.map_err(|error| self.or_overtaken(error)).inspect_err(|_| self.discard())?;
        let ledger = self.root.join(LEDGER);
        if let Some(staging) = &mut staging {
            staging.keep(true);
        }
        let written = self.disk.append(&ledger, &bytes).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => LedgerError::Overtaken,
            _ => LedgerError::disk("write", &ledger, error),
        });
        if let Err(source) = written.and_then(|()| self.refuse_undone(&event, &bytes)) {
            match recover::take_back(&*self.disk, &self.root, self.whole, &bytes) {
                Err(_) => return Err(LedgerError::Uncertain { seq, source: Box::new(source) }),
                // Another writer has built on it: it counts.
                Ok(false) => {}
                Ok(true) => {
                    if let Some(staging) = &mut staging {
                        staging.keep(false);
                    }
                    self.discard();
                    if let (Some(anchors), Some(before)) = (&self.anchors, before) {
                        // If this fails, they are erased next time.
                        let _ = anchors.end_erasing(self.seed_commitment(), before);
                    }
                    return Err(source);
                }
            }
        }
        self.whole += bytes.len() as u64;
        self.events.push(event);
        recover::finish(&*self.disk, &self.root, &self.events)
            .and_then(|()| Head::take(&*self.disk, &self.root, &self.attempt))
            .and_then(|()| self.anchor())
            .map_err(|source| LedgerError::Unfinished { seq, source: Box::new(source) })?;
        self.sweep();
        if let (Some(_), Ok(vault)) = (self.events.last().and_then(Event::publication), self.vault()) {
            vault.forget_planned();
        }
        Ok(())
    }

    /// Makes everything durable that the line relies on, and the folder that the release will be moved to.
    fn prepare(&self, event: &Event) -> Result<(), LedgerError> {
        Head { seq: event.seq, hash: event.hash.clone() }.prepare(&*self.disk, &self.root, &self.attempt)?;
        let vault = self.root.join(VAULT);
        self.disk.sync_folder(&vault).map_err(|error| LedgerError::disk("sync", &vault, error))?;
        let Some(publication) = event.publication() else {
            return event
                .vault()
                .map_or(Ok(()), |files| self.refuse_missing(files.keys().map(|name| vault.join(name))));
        };
        recover::create_release_parent(&*self.disk, &self.root, self.series())?;
        self.refuse_incomplete(publication)?;
        let place = self.release_folder(publication.number);
        match self.disk.exists(&place).map_err(|error| LedgerError::disk("read", &place, error))? {
            true => Err(LedgerError::UnknownRelease { folder: release_name(self.series(), publication.number) }),
            false => Ok(()),
        }
    }

    /// Refuses a line whose files were removed by an unseen second writer.
    fn refuse_incomplete(&self, publication: &Publication) -> Result<(), LedgerError> {
        let staged = self.root.join(STAGING).join(staged_name(publication.number, &self.attempt));
        let vault = publication.vault.keys().map(|name| self.root.join(VAULT).join(name));
        self.refuse_missing(vault.chain(std::iter::once(staged)))
    }

    fn refuse_missing(&self, mut paths: impl Iterator<Item = PathBuf>) -> Result<(), LedgerError> {
        paths.try_for_each(|path| {
            if !self.disk.exists(&path).map_err(|error| LedgerError::disk("read", &path, error))? {
                return Err(LedgerError::Overtaken);
            }
            Ok(())
        })
    }

    /// Refuses a line that was just written, if an unseen second writer came between the comparison and the line. Then the
    /// other line stands first, or the files are gone that this one names. What others have built on counts.
    fn refuse_undone(&self, event: &Event, line: &[u8]) -> Result<(), LedgerError> {
        match recover::tail(&*self.disk, &self.root, self.whole)?.strip_prefix(line) {
            None => Err(LedgerError::Overtaken),
            Some([]) => self.refuse_swept(event),
            Some(_) => Ok(()),
        }
    }

    /// Refuses a line whose files are gone. Another writer that saw the line may have moved its release into place already.
    fn refuse_swept(&self, event: &Event) -> Result<(), LedgerError> {
        let vault = event.vault().into_iter().flat_map(BTreeMap::keys).map(|name| self.root.join(VAULT).join(name));
        self.refuse_missing(vault)?;
        let Some(publication) = event.publication() else { return Ok(()) };
        let place = self.release_folder(publication.number);
        match self.disk.exists(&place).map_err(|error| LedgerError::disk("read", &place, error))? {
            true => Ok(()),
            false => self.refuse_missing(std::iter::once(recover::staged_folder(&self.root, publication))),
        }
    }

    fn refuse_overtaken(&self) -> Result<(), LedgerError> {
        let lock = self.lock.as_deref().expect("a writer holds the lock");
        recover::refuse_overtaken(&*self.disk, &self.root, lock, self.whole, self.head())
    }

    /// Removes the vault files that this store wrote and did not commit, and nothing else, because the ledger may have
    /// moved on.
    fn discard(&self) {
        recover::discard(&*self.disk, &self.root, &self.attempt);
    }

    /// Removes files of the vault that the last line does not name. The next open for writing removes what is left.
    fn sweep(&self) {
        let _ = recover::sweep_vault(&*self.disk, &self.root);
    }

    pub(super) fn vault(&self) -> Result<Vault<'_>, LedgerError> {
        Ok(Vault { per_part: self.per_part, ..Vault::new(&*self.disk, &self.root, self.seed()?) })
    }

    /// The files of the vault, and their digests.
    pub(super) fn state(&self) -> &BTreeMap<String, String> {
        recover::state(&self.events)
    }

    /// A writer is told of another one, unseen, and not of the damage that its work looks like.
    pub(super) fn or_overtaken(&self, error: LedgerError) -> LedgerError {
        recover::or_overtaken(&*self.disk, &self.root, self.whole, error)
    }

    /// Turns a missing file into "changed meanwhile" if a writer has moved on, because that is no damage.
    fn reading<T>(&self, result: Result<T, LedgerError>) -> Result<T, LedgerError> {
        if self.lock.is_some() {
            return result.map_err(|error| self.or_overtaken(error));
        }
        let missing = matches!(result, Err(LedgerError::VaultMissing { .. }));
        if missing && recover::look(&*self.disk, &self.root)?.whole > self.whole {
            return Err(LedgerError::MovedOn);
        }
        result
    }

    pub(super) fn assert_writer(&self) {
        assert!(self.lock.is_some(), "a project that is open for reading is not written to");
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Store({}, {} events)", self.root.display(), self.events.len())
    }
}

/// The folder of a release, relative to the project folder.
pub(super) fn release_name(series: &str, number: u32) -> String {
    format!("releases/{series}/r{number:04}")
}

/// The series of a ledger with at least one line.
pub(super) fn series(events: &[Event]) -> &str {
    match events.first().map(|event| &event.what) {
        Some(What::Init(init)) => &init.series,
        _ => unreachable!("the first line sets up the project; reading checks it"),
    }
}

/// The view that the last release is of.
fn view_of(history: &History) -> Option<PublishedTo> {
    let view = history.views.iter().find(|view| view.release == history.releases)?;
    Some(PublishedTo { name: view.name.clone(), recipients: view.recipients.clone() })
}

/// The mark of the first line's files. It is fixed, because releases name the ledger's head and the same seed must give
/// the same bytes.
const FIRST_ATTEMPT: &str = "00000000";

/// A mark that no other writer has.
fn new_attempt(root: &Path) -> Result<String, LedgerError> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| LedgerError::disk("write", root, io::Error::other(error)))?;
    Ok(hex(&bytes))
}

fn is_folder_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)
}

fn create_folders(disk: &dyn Disk, root: &Path) -> Result<(), LedgerError> {
    let own = root.join(".tacenda");
    let create = || {
        disk.create_folder(&own, Folder::Plain)?;
        disk.create_folder(&root.join(VAULT), Folder::Private)?;
        disk.create_folder(&root.join(STAGING), Folder::Private)?;
        disk.sync_folder(root)?;
        disk.sync_folder(&own)
    };
    create().map_err(|error| LedgerError::disk("create", &own, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{RealDisk, verify};
    use crate::model::{RecordKey, ValueSetId, Values};
    use serde_json::json;

    fn new_project() -> NewProject<'static> {
        NewProject {
            series: "wards",
            seed: Seed([7; 32]),
            wrapped_key: None,
            policy_digest: "p0",
            policy_canonical: "policy = 1",
            at: "now",
        }
    }

    fn state(releases: u32) -> (History, Table) {
        let keys: Vec<RecordKey> = (0..5).map(|hi| RecordKey { hi, lo: u64::from(releases) }).collect();
        let value = crate::model::Value(0);
        let record =
            |key| Record { key, first_seen: 1, cohort: 1, last_release: 1, group: 3, value, value_set: ValueSetId(0) };
        let records = keys.iter().copied().map(record).collect();
        let values = Values::of(["flu"]);
        let history = History { releases, records, values: values.clone(), ..History::default() };
        let table = Table::new(keys[1..4].to_vec(), vec![vec![4, 5, 6]], vec![value; 3], values, vec![], vec![]);
        (history, table)
    }

    fn publish(store: &mut Store, number: u32) -> Result<(), LedgerError> {
        let staging = store.stage(number)?;
        staging.write("data.csv", b"group_id\n1\n")?;
        let (history, snapshot) = state(number);
        let commit = Commit {
            label: "Q1",
            promise: json!({"model": "m-invariance", "m": 2}),
            numbers: LineNumbers { rows: 1, ..LineNumbers::default() },
            policy_digest: "p1",
            policy_canonical: "policy = 1 again",
            history: &history,
            snapshot: &snapshot,
            people: None,
            adopted: false,
            amended: Vec::new(),
            approved: None,
            input: None,
            source: None,
            at: "later",
        };
        store.commit(staging, commit).map(drop)
    }

    /// A line that this version reads and no longer writes: it changes no state.
    fn retract(store: &mut Store) {
        store.append("last", What::Retract { details: json!({"release": 1}) }, None).unwrap();
    }

    #[test]
    fn a_line_that_changes_no_state_is_not_lost_either() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut store = Store::init(Arc::clone(&disk), folder.path(), new_project()).unwrap();
        publish(&mut store, 1).unwrap();
        retract(&mut store);
        drop(store);
        let path = folder.path().join(LEDGER);
        let good = std::fs::read(&path).unwrap();
        for len in 0..good.len() {
            std::fs::write(&path, &good[..len]).unwrap();
            for opened in [
                Store::open_read(Arc::clone(&disk), folder.path()),
                Store::open_write(Arc::clone(&disk), folder.path()),
            ] {
                let Err(error) = opened else { panic!("cut to {len} bytes unseen") };
                assert_eq!(error.exit_code(), 5, "cut to {len} bytes: {error}");
                assert!(error.to_string().contains(LEDGER), "cut to {len} bytes: {error}");
            }
        }
    }

    #[test]
    fn a_project_reads_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut store = Store::init(Arc::clone(&disk), folder.path(), new_project()).unwrap();
        assert_eq!(store.policy().unwrap(), ("p0".to_string(), "policy = 1".to_string()));
        assert!(store.snapshot().unwrap().is_none());
        publish(&mut store, 1).unwrap();
        publish(&mut store, 2).unwrap();
        retract(&mut store);
        let reader = Store::open_read(disk, folder.path()).unwrap();
        assert_eq!(reader.events(), store.events());
        assert_eq!((reader.releases(), reader.head(), reader.series()), (2, store.head(), "wards"));
        let (history, snapshot) = state(2);
        assert!(reader.history().unwrap() == history);
        assert!(reader.snapshot().unwrap() == Some(snapshot));
        assert_eq!(reader.policy().unwrap().0, "p1");
        assert_eq!(verify(&reader).len(), 0);
        assert!(reader.release_folder(2).join("data.csv").exists());
    }

    #[test]
    fn a_second_writer_is_told_to_wait_and_readers_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let first = Store::init(Arc::clone(&disk), folder.path(), new_project()).unwrap();
        let refused = Store::open_write(Arc::clone(&disk), folder.path()).unwrap_err();
        assert_eq!((refused.code(), refused.exit_code()), ("E701", 7));
        Store::open_read(Arc::clone(&disk), folder.path()).unwrap();
        drop(first);
        Store::open_write(disk, folder.path()).unwrap();
    }

    #[test]
    fn a_reader_left_behind_is_told_to_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut store = Store::init(Arc::clone(&disk), folder.path(), new_project()).unwrap();
        publish(&mut store, 1).unwrap();
        let reader = Store::open_read(disk, folder.path()).unwrap();
        publish(&mut store, 2).unwrap();
        assert_eq!(reader.history().unwrap_err().code(), "E707");
    }

    #[test]
    fn what_is_no_project_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        assert_eq!(Store::open_read(Arc::clone(&disk), folder.path()).unwrap_err().code(), "L201");
        assert_eq!(Store::open_write(Arc::clone(&disk), folder.path()).unwrap_err().code(), "L201");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(Store::init(Arc::clone(&disk), folder.path(), new_project()).unwrap());
        assert_eq!(Store::init(Arc::clone(&disk), folder.path(), new_project()).unwrap_err().code(), "L202");
        let outside = NewProject { series: "../x", ..new_project() };
        assert_eq!(Store::init(disk, folder.path(), outside).unwrap_err().code(), "L203");
    }

    #[test]
    fn verify_names_every_published_file_that_changed() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut store = Store::init(disk, folder.path(), new_project()).unwrap();
        publish(&mut store, 1).unwrap();
        std::fs::write(store.release_folder(1).join("data.csv"), "group_id\n2\n").unwrap();
        std::fs::write(store.release_folder(1).join("more.csv"), "").unwrap();
        let codes: Vec<String> = verify(&store).iter().map(|fault| format!("{} {fault}", fault.code())).collect();
        assert_eq!(codes.len(), 2);
        assert!(codes[0].starts_with("L507 releases/wards/r0001/data.csv is not what was published"));
        assert!(codes[1].starts_with("L507 releases/wards/r0001/more.csv was never published"));
        std::fs::remove_dir_all(store.release_folder(1)).unwrap();
        assert_eq!(verify(&store)[0].code(), "L506");
    }

    #[cfg(unix)]
    #[test]
    fn vault_and_staging_are_private_and_releases_are_not() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::init(Arc::new(RealDisk), folder.path(), new_project()).unwrap();
        publish(&mut store, 1).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join(VAULT)), 0o700);
        assert_eq!(mode(&folder.path().join(STAGING)), 0o700);
        assert_ne!(mode(&store.release_folder(1)), 0o700);
    }
}
