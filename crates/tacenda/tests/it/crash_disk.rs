//! A disk in memory that can lose power.
//!
//! Contents are durable once their file is synced, names once their folder is synced. A crash keeps
//! any prefix of what was written to a file since its last sync, and any of the changes of names
//! since their folder's last sync, as far as file systems go: changes of one name stay in order, and
//! a rename is one change, durable once either of its folders is synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tacenda::ledger::{Disk, DiskFile, FileKind, Folder, Lock, Status};
use tacenda::model::Rng;

/// What goes wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DiskFault {
    /// Nothing.
    Never,
    /// Power is lost at this operation: it and all later ones fail.
    Crash(usize),
    /// This operation fails, once.
    Once(usize),
    /// From this operation that takes space on, there is none; half of a write still fits.
    Full(usize),
}

/// What a crash keeps of what was not synced.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    Nothing,
    Everything,
    Half,
    Random(u64),
}

#[derive(Clone)]
enum Node {
    /// `floor` is the least length since the last sync: up to there live and durable agree.
    File {
        live: Vec<u8>,
        durable: Vec<u8>,
        floor: usize,
    },
    Folder {
        live: BTreeMap<String, usize>,
        durable: BTreeMap<String, usize>,
    },
}

/// A change of names that is not durable yet.
#[derive(Clone)]
struct Change {
    edits: Vec<(usize, String, Option<usize>)>,
}

#[derive(Clone)]
struct World {
    nodes: Vec<Node>,
    pending: Vec<Change>,
    fault: DiskFault,
    operations: usize,
    takes_space: usize,
    dead: bool,
    /// The lock files that somebody holds.
    locked: BTreeSet<usize>,
}

/// A disk that can be cloned, cut off, and looked at.
pub struct CrashDisk(Arc<Mutex<World>>);

const ROOT: usize = 0;

impl CrashDisk {
    pub fn new() -> CrashDisk {
        let root = Node::Folder { live: BTreeMap::new(), durable: BTreeMap::new() };
        CrashDisk(Arc::new(Mutex::new(World {
            nodes: vec![root],
            pending: Vec::new(),
            fault: DiskFault::Never,
            operations: 0,
            takes_space: 0,
            dead: false,
            locked: BTreeSet::new(),
        })))
    }

    /// A copy in which nothing has gone wrong and no one holds the lock, with a fault to come.
    pub fn copy(&self, fault: DiskFault) -> Arc<CrashDisk> {
        let mut world = self.world().clone();
        world.fault = fault;
        (world.operations, world.takes_space, world.dead) = (0, 0, false);
        world.locked.clear();
        Arc::new(CrashDisk(Arc::new(Mutex::new(world))))
    }

    /// How many operations there were since the copy was made, and how many of them take space.
    pub fn operations(&self) -> (usize, usize) {
        let world = self.world();
        (world.operations, world.takes_space)
    }

    /// Whether power was lost.
    pub fn is_dead(&self) -> bool {
        self.world().dead
    }

    /// What is found when power is back.
    pub fn after_crash(&self, kept: Kept) -> Arc<CrashDisk> {
        let mut world = self.world().clone();
        let mut rng = Rng::from_number(if let Kept::Random(seed) = kept { seed } else { 0 });
        let mut lost_names = BTreeSet::new();
        for change in std::mem::take(&mut world.pending) {
            let chosen = match kept {
                Kept::Nothing | Kept::Half => false,
                Kept::Everything => true,
                Kept::Random(_) => rng.below(2) == 1,
            };
            let names: Vec<(usize, String)> =
                change.edits.iter().map(|(folder, name, _)| (*folder, name.clone())).collect();
            let in_order = names.iter().all(|name| !lost_names.contains(name));
            if chosen && in_order {
                world.make_durable(&change);
            } else {
                lost_names.extend(names);
            }
        }
        for node in &mut world.nodes {
            match node {
                Node::Folder { live, durable } => *live = durable.clone(),
                Node::File { live, durable, floor } => {
                    let more = live.len() - *floor;
                    let was_cut = *floor < durable.len();
                    match kept {
                        Kept::Nothing => *live = durable.clone(),
                        Kept::Everything => {}
                        Kept::Half => live.truncate(*floor + more / 2),
                        Kept::Random(_) if was_cut && rng.below(2) == 1 => *live = durable.clone(),
                        Kept::Random(_) => live.truncate(*floor + rng.below(more as u64 + 1) as usize),
                    }
                    *floor = live.len();
                    *durable = live.clone();
                }
            }
        }
        CrashDisk(Arc::new(Mutex::new(world))).copy(DiskFault::Never)
    }

    /// Every file and its content, by path.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        self.world().walk(ROOT, "", &mut files);
        files
    }

    /// Lets somebody else take a lock that is held, as on a file system without locks.
    pub fn unlock(&self) {
        self.world().locked.clear();
    }

    /// Puts another content into a file, durably.
    pub fn tamper(&self, path: &str, content: Vec<u8>) {
        let mut world = self.world();
        let id = world.find(Path::new(path)).expect("the file is there");
        world.nodes[id] = Node::File { floor: content.len(), live: content.clone(), durable: content };
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl World {
    fn step(&mut self) -> io::Result<()> {
        self.operations += 1;
        match self.fault {
            DiskFault::Crash(at) if self.operations >= at => self.dead = true,
            DiskFault::Once(at) if self.operations == at => return Err(io::Error::other("this failed once")),
            _ => {}
        }
        if self.dead { Err(io::Error::other("power was lost")) } else { Ok(()) }
    }

    /// A step that takes space. Says whether all of it fits.
    fn space(&mut self) -> io::Result<bool> {
        self.step()?;
        self.takes_space += 1;
        Ok(!matches!(self.fault, DiskFault::Full(at) if self.takes_space >= at))
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        let mut at = ROOT;
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            let Node::Folder { live, .. } = &self.nodes[at] else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            at = *live.get(name.to_str().expect("tests use plain names")).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(at)
    }

    fn parent(&self, path: &Path) -> io::Result<(usize, String)> {
        let parent = self.find(path.parent().expect("it is not the root"))?;
        Ok((parent, path.file_name().expect("it has a name").to_str().expect("tests use plain names").into()))
    }

    fn names(&mut self, folder: usize) -> &mut BTreeMap<String, usize> {
        match &mut self.nodes[folder] {
            Node::Folder { live, .. } => live,
            Node::File { .. } => panic!("not a folder"),
        }
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn change(&mut self, edits: Vec<(usize, String, Option<usize>)>) {
        for (folder, name, target) in &edits {
            match target {
                Some(id) => self.names(*folder).insert(name.clone(), *id),
                None => self.names(*folder).remove(name),
            };
        }
        self.pending.push(Change { edits });
    }

    fn make_durable(&mut self, change: &Change) {
        for (folder, name, target) in &change.edits {
            let Node::Folder { durable, .. } = &mut self.nodes[*folder] else { panic!("not a folder") };
            match target {
                Some(id) => durable.insert(name.clone(), *id),
                None => durable.remove(name),
            };
        }
    }

    fn sync_folder(&mut self, folder: usize) {
        let pending = std::mem::take(&mut self.pending);
        let touches = |change: &Change| change.edits.iter().any(|(id, _, _)| *id == folder);
        for change in pending {
            if touches(&change) {
                self.make_durable(&change);
            } else {
                self.pending.push(change);
            }
        }
    }

    fn remove(&mut self, folder: usize, name: &str) -> io::Result<()> {
        self.step()?;
        let id = *self.names(folder).get(name).ok_or(io::ErrorKind::NotFound)?;
        if let Node::Folder { live, .. } = &self.nodes[id] {
            for child in live.keys().cloned().collect::<Vec<String>>() {
                self.remove(id, &child)?;
            }
            self.step()?;
        }
        self.change(vec![(folder, name.to_string(), None)]);
        Ok(())
    }

    fn walk(&self, at: usize, path: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        match &self.nodes[at] {
            Node::File { live, .. } => drop(files.insert(path.to_string(), live.clone())),
            Node::Folder { live, .. } => {
                for (name, &id) in live {
                    self.walk(id, &format!("{path}/{name}"), files);
                }
            }
        }
    }

    fn live(&mut self, id: usize) -> io::Result<&mut Vec<u8>> {
        match &mut self.nodes[id] {
            Node::File { live, .. } => Ok(live),
            Node::Folder { .. } => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn cut(&mut self, id: usize, len: usize) -> io::Result<()> {
        self.live(id)?.truncate(len);
        if let Node::File { floor, .. } = &mut self.nodes[id] {
            *floor = len.min(*floor);
        }
        Ok(())
    }

    fn write(&mut self, id: usize, bytes: &[u8]) -> io::Result<()> {
        let fits = self.space()?;
        let written = if fits { bytes.len() } else { bytes.len() / 2 };
        self.live(id)?.extend_from_slice(&bytes[..written]);
        if fits { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn sync(&mut self, id: usize) -> io::Result<()> {
        self.step()?;
        if let Node::File { live, durable, floor } = &mut self.nodes[id] {
            *durable = live.clone();
            *floor = live.len();
        }
        Ok(())
    }
}

struct OpenFile {
    world: Arc<Mutex<World>>,
    id: usize,
}

impl OpenFile {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Write for OpenFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.world().write(self.id, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for OpenFile {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        self.world().sync(self.id)
    }
}

/// Held as long as it lives; the lock of a dead machine is gone with it.
struct WorldLock {
    world: Arc<Mutex<World>>,
    path: PathBuf,
    id: usize,
}

impl Lock for WorldLock {
    fn is_held(&self) -> io::Result<bool> {
        let mut world = self.world.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        world.step()?;
        Ok(world.find(&self.path).ok() == Some(self.id))
    }
}

impl Drop for WorldLock {
    fn drop(&mut self) {
        self.world.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).locked.remove(&self.id);
    }
}

impl Disk for CrashDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut world = self.world();
        world.step()?;
        let id = world.find(path)?;
        world.live(id).cloned()
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut world = self.world();
        if !world.space()? {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let id = match world.find(path) {
            Ok(id) => {
                world.cut(id, 0)?;
                id
            }
            Err(_) => {
                let (parent, name) = world.parent(path)?;
                let id = world.add(Node::File { live: Vec::new(), durable: Vec::new(), floor: 0 });
                world.change(vec![(parent, name, Some(id))]);
                id
            }
        };
        Ok(Box::new(OpenFile { world: Arc::clone(&self.0), id }))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.world();
        let id = world.find(path)?;
        world.write(id, bytes)?;
        world.sync(id)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let mut world = self.world();
        let id = world.find(path)?;
        world.step()?;
        world.cut(id, len as usize)?;
        world.sync(id)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.step()?;
        let id = world.find(from)?;
        if let Ok(old) = world.find(to)
            && matches!(&world.nodes[old], Node::Folder { live, .. } if !live.is_empty())
        {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        let (source, target) = (world.parent(from)?, world.parent(to)?);
        world.change(vec![(source.0, source.1, None), (target.0, target.1, Some(id))]);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut world = self.world();
        let (parent, name) = world.parent(path)?;
        world.remove(parent, &name)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.remove_file(path)
    }

    fn create_folder(&self, path: &Path, _kind: Folder) -> io::Result<()> {
        let mut world = self.world();
        let mut at = ROOT;
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            let name = name.to_str().expect("tests use plain names").to_string();
            if let Some(&id) = world.names(at).get(&name) {
                at = id;
                continue;
            }
            if !world.space()? {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let id = world.add(Node::Folder { live: BTreeMap::new(), durable: BTreeMap::new() });
            world.change(vec![(at, name, Some(id))]);
            at = id;
        }
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.step()?;
        let id = world.find(path)?;
        world.sync_folder(id);
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut world = self.world();
        world.step()?;
        match world.find(path) {
            Ok(id) if matches!(world.nodes[id], Node::File { .. }) => Err(io::ErrorKind::NotADirectory.into()),
            Ok(id) => Ok(world.names(id).keys().cloned().collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let mut world = self.world();
        world.step()?;
        Ok(world.find(path).is_ok())
    }

    fn status(&self, path: &Path) -> io::Result<Status> {
        let mut world = self.world();
        world.step()?;
        let kind = match world.find(path).map(|id| &world.nodes[id]) {
            Ok(Node::File { .. }) => FileKind::File,
            Ok(Node::Folder { .. }) => FileKind::Folder,
            Err(_) => FileKind::Absent,
        };
        Ok(Status { kind, is_private: true })
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let mut world = self.world();
        world.step()?;
        let id = match world.find(path) {
            Ok(id) => id,
            Err(_) => {
                let (parent, name) = world.parent(path)?;
                let id = world.add(Node::File { live: Vec::new(), durable: Vec::new(), floor: 0 });
                world.change(vec![(parent, name, Some(id))]);
                id
            }
        };
        if !world.locked.insert(id) {
            return Ok(None);
        }
        Ok(Some(Box::new(WorldLock { world: Arc::clone(&self.0), path: path.into(), id })))
    }
}
