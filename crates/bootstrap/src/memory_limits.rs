//! How much memory the system would give this process.
//!
//! Memory that is reserved and not touched costs nothing, so a request that could never be met would succeed,
//! and the process would be killed at a later touch. [`check`] refuses it before. It compares the request
//! with
//!
//! | limit | left of it |
//! |---|---|
//! | the machine's memory | what the kernel says is available, and the free swap space |
//! | strict accounting (`vm.overcommit_memory=2`) | the commit limit without what is committed |
//! | each control group of the process, up to the root, version 1 or 2 | its limit without its use, and its share of the free swap space |
//!
//! Caches of files count as free, since the kernel drops them where memory is wanted. What nobody can read is
//! taken for no limit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Lengths up to this one are not looked at.
const SMALL: u64 = 16 << 20;

/// Refuses more memory than the system has to give.
///
/// # Errors
/// `OutOfMemory`, with the limit that stands against it.
pub(crate) fn check(len: u64) -> io::Result<()> {
    if len <= SMALL {
        return Ok(());
    }
    match least(Path::new("/")) {
        Some(left) if left.bytes < len => {
            let what = format!("{} has {} bytes of memory to give", left.whose, left.bytes);
            Err(io::Error::new(io::ErrorKind::OutOfMemory, what))
        }
        _ => Ok(()),
    }
}

/// The bytes that a limit leaves.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    bytes: u64,
    /// Whose memory it is, as a message says it.
    whose: String,
}

/// The limit of which the least is left, by the files of the system below `root`.
fn least(root: &Path) -> Option<Left> {
    let machine = Machine::read(root);
    let groups = groups(root).into_iter().filter_map(|group| group.left(machine.swap));
    machine.left().into_iter().chain(groups).min_by_key(|left| left.bytes)
}

/// The memory of the machine, in bytes.
struct Machine {
    available: Option<u64>,
    /// Under strict accounting.
    uncommitted: Option<u64>,
    /// Free swap space.
    swap: u64,
}

impl Machine {
    fn read(root: &Path) -> Machine {
        let text = fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
        let bytes = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key))?.strip_suffix("kB")?;
            value.trim().parse::<u64>().ok()?.checked_mul(1024)
        };
        let strict = number(&root.join("proc/sys/vm/overcommit_memory")) == Some(2);
        let commit = strict.then(|| bytes("CommitLimit:").zip(bytes("Committed_AS:"))).flatten();
        Machine {
            available: bytes("MemAvailable:"),
            uncommitted: commit.map(|(limit, used)| limit.saturating_sub(used)),
            swap: bytes("SwapFree:").unwrap_or(0),
        }
    }

    fn left(&self) -> Vec<Left> {
        let available = self
            .available
            .map(|bytes| Left { bytes: bytes.saturating_add(self.swap), whose: "the system".to_owned() });
        let uncommitted = self.uncommitted.map(|bytes| Left {
            bytes,
            whose: "the system, which commits no more than it has (vm.overcommit_memory=2),".to_owned(),
        });
        available.into_iter().chain(uncommitted).collect()
    }
}

/// The files of a version of control groups.
struct CgroupVersion {
    limit: &'static str,
    used: &'static str,
    /// The limit and the use of swap space; in version 1 of memory and swap space together.
    swap: [&'static str; 2],
    /// The lines of `memory.stat` with caches of files.
    caches: [&'static str; 2],
}

static VERSIONS: [CgroupVersion; 2] = [
    CgroupVersion {
        limit: "memory.limit_in_bytes",
        used: "memory.usage_in_bytes",
        swap: ["memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes"],
        caches: ["total_inactive_file ", "total_active_file "],
    },
    CgroupVersion {
        limit: "memory.max",
        used: "memory.current",
        swap: ["memory.swap.max", "memory.swap.current"],
        caches: ["inactive_file ", "active_file "],
    },
];

/// A control group that the process is in.
struct Group {
    /// 1 or 2.
    version: usize,
    directory: PathBuf,
    /// Its name, as a message says it.
    name: PathBuf,
}

impl Group {
    /// The bytes that its limit leaves, if it has one.
    fn left(&self, free_swap: u64) -> Option<Left> {
        let version = &VERSIONS[self.version - 1];
        let read = |file: &str| number(&self.directory.join(file));
        let rest = |limit: &str, used: &str| Some(read(limit)?.saturating_sub(read(used)?));
        let caches = self.caches(version);
        let memory = rest(version.limit, version.used)?.saturating_add(caches);
        let swap = rest(version.swap[0], version.swap[1]);
        let bytes = match (self.version, swap) {
            (2, Some(swap)) => memory.saturating_add(swap.min(free_swap)),
            (1, Some(both)) => memory.saturating_add(free_swap).min(both.saturating_add(caches)),
            _ => memory.saturating_add(free_swap),
        };
        Some(Left { bytes, whose: format!("the control group {} ({})", self.name.display(), version.limit) })
    }

    fn caches(&self, version: &CgroupVersion) -> u64 {
        let text = fs::read_to_string(self.directory.join("memory.stat")).unwrap_or_default();
        let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok());
        version.caches.iter().filter_map(|key| of(key)).fold(0, u64::saturating_add)
    }
}

/// The number in a file; `None` if there is none, as where the limit is `max`.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The control groups of this process that may limit its memory, up to the roots of their hierarchies.
fn groups(root: &Path) -> Vec<Group> {
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_default();
    let (memberships, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let mut groups = Vec::new();
    for membership in memberships.lines() {
        // The number of the hierarchy, its controllers (none in version 2), the group.
        let mut fields = membership.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let version = match controllers {
            "" => 2,
            _ if controllers.split(',').any(|controller| controller == "memory") => 1,
            _ => continue,
        };
        let Some(mount) = mounts.lines().find_map(|line| Mount::of(line, version)) else { continue };
        let below = mount.below(Path::new(path));
        for ancestor in below.ancestors() {
            let name = mount.point.join(ancestor);
            let directory = root.join(name.strip_prefix("/").unwrap_or(&name));
            // In version 1 a group may say that its limit is not that of the groups in it.
            let is_own = ancestor == below;
            if is_own || number(&directory.join("memory.use_hierarchy")) != Some(0) {
                groups.push(Group { version, directory, name });
            }
        }
    }
    groups
}

/// Where a hierarchy of control groups is mounted.
struct Mount<'a> {
    point: &'a Path,
    /// The group that is seen there.
    root: &'a Path,
}

impl<'a> Mount<'a> {
    /// The mount of a line of `mountinfo`, if it has the memory's control groups of this version.
    fn of(line: &'a str, version: usize) -> Option<Mount<'a>> {
        let (mount, kind) = line.split_once(" - ")?;
        let (mut mount, mut kind) = (mount.split(' ').skip(3), kind.split(' '));
        let is_wanted = match kind.next()? {
            "cgroup2" => version == 2,
            "cgroup" => version == 1 && kind.nth(1)?.split(',').any(|option| option == "memory"),
            _ => false,
        };
        let (root, point) = (Path::new(mount.next()?), Path::new(mount.next()?));
        is_wanted.then_some(Mount { point, root })
    }

    /// A group's path below the mount. In a container the group may lie outside of what it sees; the group at
    /// the mount is the process's then.
    fn below(&self, group: &'a Path) -> &'a Path {
        group.strip_prefix(self.root).unwrap_or(Path::new(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A directory with files of a system, removed at the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, String)]) -> Tree {
            let root = std::env::temp_dir().join(format!("heddle-limits-{}-{name}", std::process::id()));
            let tree = Tree(root);
            for (file, text) in files {
                let file = tree.0.join(file);
                fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
                fs::write(file, text).expect("a file");
            }
            tree
        }

        fn left(&self) -> Option<(u64, String)> {
            least(&self.0).map(|left| (left.bytes, left.whose))
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn meminfo(available: u64, swap: u64) -> (&'static str, String) {
        let text = format!(
            "MemTotal: 99999999 kB\nMemAvailable: {} kB\nSwapFree: {} kB\nCommitLimit: 800 kB\nCommitted_AS: 300 kB\n",
            available / 1024,
            swap / 1024
        );
        ("proc/meminfo", text)
    }

    fn text(file: &'static str, text: impl ToString) -> (&'static str, String) {
        (file, text.to_string())
    }

    #[test]
    fn without_control_groups_the_machine_limits() {
        let tree = Tree::new("machine", &[meminfo(100 * MIB, 20 * MIB)]);
        assert_eq!(tree.left(), Some((120 * MIB, "the system".to_owned())));
        let strict =
            Tree::new("strict", &[meminfo(100 * MIB, 0), text("proc/sys/vm/overcommit_memory", "2\n")]);
        assert_eq!(strict.left().map(|left| left.0), Some(500 * 1024));
        let nothing = Tree::new("nothing", &[]);
        assert_eq!(nothing.left(), None, "what nobody can read is no limit");
    }

    #[test]
    fn the_least_of_all_ancestors_counts_in_version_2() {
        let tree = Tree::new(
            "second",
            &[
                meminfo(10_000 * MIB, 50 * MIB),
                text("proc/self/cgroup", "1:name=systemd:/x\n0::/job/step/task\n"),
                text(
                    "proc/self/mountinfo",
                    "31 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
                ),
                text("sys/fs/cgroup/job/step/task/memory.max", "max\n"),
                text("sys/fs/cgroup/job/step/task/memory.current", 5 * MIB),
                text("sys/fs/cgroup/job/step/memory.max", 900 * MIB),
                text("sys/fs/cgroup/job/step/memory.current", 0),
                text("sys/fs/cgroup/job/memory.max", 512 * MIB),
                text("sys/fs/cgroup/job/memory.current", 400 * MIB),
                text(
                    "sys/fs/cgroup/job/memory.stat",
                    format!("anon 5\ninactive_file {}\nactive_file {}\nshmem 7\n", 250 * MIB, 50 * MIB),
                ),
                text("sys/fs/cgroup/job/memory.swap.max", 30 * MIB),
                text("sys/fs/cgroup/job/memory.swap.current", 20 * MIB),
            ],
        );
        let whose = "the control group /sys/fs/cgroup/job (memory.max)".to_owned();
        assert_eq!(tree.left(), Some((512 * MIB - 400 * MIB + 300 * MIB + 10 * MIB, whose)));
    }

    #[test]
    fn version_1_counts_memory_and_swap_space_together() {
        let files = |both: u64, hierarchy: u64| {
            [
                meminfo(10_000 * MIB, 50 * MIB),
                text("proc/self/cgroup", "5:cpu,memory:/a/b\n0::/\n"),
                text(
                    "proc/self/mountinfo",
                    "30 1 0:5 / /cpu rw - cgroup cgroup rw,cpuset\n14 35 0:32 / /mem rw - cgroup cgroup rw,cpu,memory\n",
                ),
                text("mem/a/b/memory.limit_in_bytes", 9_223_372_036_854_771_712u64),
                text("mem/a/b/memory.usage_in_bytes", 1),
                text("mem/a/memory.limit_in_bytes", 512 * MIB),
                text("mem/a/memory.usage_in_bytes", 112 * MIB),
                text("mem/a/memory.use_hierarchy", hierarchy),
                text("mem/a/memory.stat", format!("inactive_file 3\ntotal_inactive_file {}\n", 10 * MIB)),
                text("mem/a/memory.memsw.limit_in_bytes", both),
                text("mem/a/memory.memsw.usage_in_bytes", 112 * MIB),
            ]
        };
        let left =
            |name: &str, both, hierarchy| Tree::new(name, &files(both, hierarchy)).left().map(|left| left.0);
        assert_eq!(left("first", 512 * MIB, 1), Some(410 * MIB), "no swap space");
        assert_eq!(left("swap", u64::MAX / 2, 1), Some(460 * MIB), "all swap space");
        assert_eq!(left("flat", 512 * MIB, 0), Some(10_050 * MIB), "the limit of a group that is alone");
    }

    #[test]
    fn a_container_sees_its_group_at_the_mount() {
        let tree = |name: &str, group: &str, mounted: &str| {
            let mount = format!("31 24 0:26 {mounted} /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
            Tree::new(
                name,
                &[
                    ("proc/self/cgroup", format!("0::{group}\n")),
                    ("proc/self/mountinfo", mount),
                    text("sys/fs/cgroup/memory.max", 64 * MIB),
                    text("sys/fs/cgroup/memory.current", 4 * MIB),
                    text("sys/fs/cgroup/inner/memory.max", 32 * MIB),
                    text("sys/fs/cgroup/inner/memory.current", 4 * MIB),
                ],
            )
            .left()
            .map(|left| left.0)
        };
        assert_eq!(tree("own", "/docker/1", "/docker/1"), Some(60 * MIB));
        assert_eq!(tree("inner", "/docker/1/inner", "/docker/1"), Some(28 * MIB));
        assert_eq!(tree("outside", "/elsewhere", "/docker/1"), Some(60 * MIB));
        assert_eq!(tree("namespace", "/", "/"), Some(60 * MIB));
    }

    #[test]
    fn small_requests_are_not_looked_at_and_impossible_ones_are_refused() {
        check(SMALL).expect("it is small");
        let error = check(1 << 60).expect_err("no machine has that");
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert!(error.to_string().contains("bytes of memory to give"), "{error}");
    }
}
