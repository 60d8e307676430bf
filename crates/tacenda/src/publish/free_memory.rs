//! How much memory a process may still take, as far as Linux says it: what the machine has free, and what the limits of
//! its control groups (those of a container or a service) leave.

use std::fs;
use std::path::{Path, PathBuf};

/// How many bytes are free. `None` if the system does not say.
pub(super) fn free_memory() -> Option<u64> {
    free_below(Path::new("/"))
}

/// How many rows with so many columns fit into what is free, when a file of another tool is read; more than was measured for them.
pub(crate) fn rows_that_fit(columns: usize) -> Option<u64> {
    free_memory().map(|free| free / 4 * 3 / (24 + 12 * columns as u64))
}

/// The same, where the system's files are below a folder.
fn free_below(root: &Path) -> Option<u64> {
    let of_machine = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    of_machine.into_iter().chain(left_by_groups(root)).min()
}

/// What each control group that the process is in leaves of its limit.
fn left_by_groups(root: &Path) -> Vec<u64> {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut found = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(kinds), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (top, files) = match kinds {
            "" => ("sys/fs/cgroup", ["memory.max", "memory.current"]),
            _ if kinds.split(',').any(|kind| kind == "memory") => {
                ("sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes"])
            }
            _ => continue,
        };
        // In a container the path may be that of the host, and only the top is there.
        let mut folder: PathBuf = root.join(top).join(path.trim_start_matches('/'));
        while folder.starts_with(root.join(top)) {
            found.extend(left_in(&folder, files));
            folder.pop();
        }
    }
    found
}

/// What one control group leaves. Its copies of files do not count: the system drops them when memory is short.
fn left_in(folder: &Path, [limit, used]: [&str; 2]) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let copies = |line: &str| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok();
    let copies = stat.lines().find_map(copies).unwrap_or(0);
    Some(number(limit)?.saturating_sub(number(used)?.saturating_sub(copies)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const FREE: (&str, &str) = ("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:   500 kB\n");

    #[test]
    fn the_least_of_machine_and_control_groups_is_free() {
        assert_eq!(free_below(machine(&[]).path()), None, "a system that does not say");
        assert_eq!(free_below(machine(&[FREE]).path()), Some(512_000));
        let two = [
            FREE,
            ("proc/self/cgroup", "0::/service/job\n"),
            ("sys/fs/cgroup/service/memory.max", "400000\n"),
            ("sys/fs/cgroup/service/memory.current", "150000\n"),
            ("sys/fs/cgroup/service/memory.stat", "anon 1\ninactive_file 50000\n"),
            ("sys/fs/cgroup/service/job/memory.max", "max\n"),
            ("sys/fs/cgroup/service/job/memory.current", "1\n"),
        ];
        assert_eq!(free_below(machine(&two).path()), Some(300_000), "a group above counts, and copies of files do not");
        let one = [
            FREE,
            ("proc/self/cgroup", "7:cpu:/x\n4:cpuset,memory:/docker/1\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "300\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "400\n"),
        ];
        assert_eq!(free_below(machine(&one).path()), Some(0), "of an older kernel, in a container, and none is left");
    }
}
