//! The machine as Linux shows it: files under a folder that takes the place of `/`.
//!
//! | files | what they have |
//! |---|---|
//! | `sys/devices/system/cpu` | which processors there are |
//! | `sys/devices/system/cpu/cpuN/topology` | socket and cluster of each, and who shares them |
//! | `sys/devices/system/cpu/cpuN/cache` | its caches, and who shares them |
//! | `sys/devices/system/node` | a NUMA node for each socket |
//! | `proc/cpuinfo`, `proc/meminfo` | the same for people |
//!
//! A core is a processor without hyperthreads. hwloc reads the files when `HWLOC_FSROOT` names the folder.
//! With `HWLOC_COMPONENTS=-x86` it reads nothing else; otherwise it adds what the processor says of itself.

use super::cpu_set::{list, mask};
use super::synthetic::LINE;
use super::{Error, Machine};
use std::fmt::{Display, Write as _};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Memory per core. Nothing is charged by it, but programs size their buffers by what they find.
const MEMORY_KIB: usize = 4 << 20;

/// The distance of a socket's memory from its own cores, and from those of another: what firmware mostly
/// says.
const DISTANCES: [usize; 2] = [10, 21];

/// Ways of the caches, where that divides their lines.
const WAYS: u64 = 16;

/// What every processor of the kind has (x86-64 without extensions), and that its clock is constant.
const FLAGS: &str =
    "fpu tsc msr cx8 cmov mmx fxsr sse sse2 syscall nx lm constant_tsc nonstop_tsc pni cx16 hypervisor";

/// Writes the files under `root`, over those that are there.
///
/// These are some 55 files per core, so `root` is best in memory (`/dev/shm`): 128 cores take 0.2 s there,
/// and 12 s on a slow disk.
///
/// # Errors
///
/// [`Error::Write`] names the file that cannot be written.
pub fn write(machine: &Machine, root: &Path) -> Result<(), Error> {
    let all = 0..machine.cores_in_all();
    let cpus = Folder::new(root.join("sys/devices/system/cpu"))?;
    for name in ["online", "possible", "present"] {
        cpus.file(name, list(&all))?;
    }
    cpus.file("offline", "")?;
    cpus.file("kernel_max", all.end - 1)?;
    for core in all {
        write_core(machine, core, &cpus.folder(&format!("cpu{core}"))?)?;
    }
    write_nodes(machine, &Folder::new(root.join("sys/devices/system/node"))?)?;
    let proc = Folder::new(root.join("proc"))?;
    proc.file("cpuinfo", cpuinfo(machine).trim_end())?;
    proc.file("meminfo", meminfo("", machine.cores_in_all()).trim_end())
}

fn write_core(machine: &Machine, core: usize, folder: &Folder) -> Result<(), Error> {
    let Machine { last_level, costs, .. } = machine;
    let per_socket = machine.cores_per_socket();
    let all = machine.cores_in_all();
    let alone = core..core + 1;
    let cluster = machine.cores_of_cluster(machine.cluster_of(core));
    let socket = machine.cores_of_socket(machine.socket_of(core));
    // Linux calls the cores that share a cache of the second level a cluster.
    let second = if *last_level == 2 { &cluster } else { &alone };

    let topology = folder.folder("topology")?;
    topology.file("physical_package_id", machine.socket_of(core))?;
    topology.file("die_id", 0)?;
    topology.file("cluster_id", second.start % per_socket)?;
    topology.file("core_id", core % per_socket)?;
    for (names, cores) in [
        (["core_cpus", "thread_siblings"].as_slice(), &alone),
        (&["cluster_cpus"], second),
        (&["die_cpus", "package_cpus", "core_siblings"], &socket),
    ] {
        for name in names {
            topology.file(name, mask(cores, all))?;
            topology.file(&format!("{name}_list"), list(cores))?;
        }
    }

    let first = 32 << 10;
    let (own, last) = (costs.core_lines * LINE, costs.cluster_lines * LINE);
    let mut caches = vec![(1, "Data", first, &alone), (1, "Instruction", first, &alone)];
    if *last_level > 2 {
        caches.push((2, "Unified", own, &alone));
    }
    caches.push((*last_level, "Unified", last, &cluster));
    for (index, (level, kind, bytes, cores)) in caches.into_iter().enumerate() {
        let cache = folder.folder(&format!("cache/index{index}"))?;
        write_cache(&cache, level, kind, bytes, cores, all)?;
    }
    Ok(())
}

fn write_cache(
    cache: &Folder,
    level: usize,
    kind: &str,
    bytes: u64,
    cores: &Range<usize>,
    all: usize,
) -> Result<(), Error> {
    let lines = bytes / LINE;
    let ways = if lines.is_multiple_of(WAYS) { WAYS } else { 1 };
    cache.file("id", cores.start / cores.len())?;
    cache.file("level", level)?;
    cache.file("type", kind)?;
    cache.file("size", format!("{}K", bytes.div_ceil(1024)))?;
    cache.file("coherency_line_size", LINE)?;
    cache.file("physical_line_partition", 1)?;
    cache.file("ways_of_associativity", ways)?;
    cache.file("number_of_sets", lines / ways)?;
    cache.file("shared_cpu_map", mask(cores, all))?;
    cache.file("shared_cpu_list", list(cores))
}

fn write_nodes(machine: &Machine, folder: &Folder) -> Result<(), Error> {
    let nodes = list(&(0..machine.sockets));
    for name in ["online", "possible", "has_cpu", "has_memory", "has_normal_memory"] {
        folder.file(name, &nodes)?;
    }
    for socket in 0..machine.sockets {
        let node = folder.folder(&format!("node{socket}"))?;
        let cores = machine.cores_of_socket(socket);
        node.file("cpumap", mask(&cores, machine.cores_in_all()))?;
        node.file("cpulist", list(&cores))?;
        let distances = (0..machine.sockets).map(|other| DISTANCES[usize::from(other != socket)].to_string());
        node.file("distance", distances.collect::<Vec<_>>().join(" "))?;
        node.file("meminfo", meminfo(&format!("Node {socket} "), cores.len()).trim_end())?;
    }
    Ok(())
}

fn meminfo(before: &str, cores: usize) -> String {
    let kib = cores * MEMORY_KIB;
    ["MemTotal:", "MemFree:", "MemAvailable:"]
        .map(|key| format!("{before}{key:16}{kib:>8} kB\n"))
        .into_iter()
        .collect()
}

fn cpuinfo(machine: &Machine) -> String {
    let cache = machine.costs.cluster_lines * LINE / 1024;
    let megahertz = machine.costs.ticks;
    let per_socket = machine.cores_per_socket();
    let mut text = String::new();
    for core in 0..machine.cores_in_all() {
        let rows = [
            ("processor", core.to_string()),
            ("model name", format!("{} @ {megahertz} MHz, simulated", machine.name)),
            ("cpu MHz", format!("{megahertz}.000")),
            ("cache size", format!("{cache} KB")),
            ("physical id", machine.socket_of(core).to_string()),
            ("siblings", per_socket.to_string()),
            ("core id", (core % per_socket).to_string()),
            ("cpu cores", per_socket.to_string()),
            ("apicid", core.to_string()),
            ("flags", FLAGS.to_owned()),
            ("clflush size", LINE.to_string()),
            ("cache_alignment", LINE.to_string()),
        ];
        for (key, value) in rows {
            let _ = writeln!(text, "{key}\t: {value}");
        }
        text.push('\n');
    }
    text
}

/// A folder that is there.
struct Folder(PathBuf);

impl Folder {
    fn new(path: PathBuf) -> Result<Self, Error> {
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(Self(path)),
            Err(source) => Err(Error::Write { path, source }),
        }
    }

    fn folder(&self, name: &str) -> Result<Self, Error> {
        Self::new(self.0.join(name))
    }

    /// A file of one line, or of several.
    fn file(&self, name: &str, text: impl Display) -> Result<(), Error> {
        let path = self.0.join(name);
        fs::write(&path, format!("{text}\n")).map_err(|source| Error::Write { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (tempfile::TempDir, impl Fn(&str) -> String) {
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
        write(&Machine::parse(text).expect(text), folder.path()).expect("written");
        let root = folder.path().to_owned();
        let read = move |name: &str| {
            let text = fs::read_to_string(root.join(name)).expect(name);
            text.strip_suffix('\n').expect("a line").to_owned()
        };
        (folder, read)
    }

    #[test]
    fn clusters_share_a_third_cache() {
        let (_folder, read) = written("epyc-7742");
        let cpu = |name: &str| read(&format!("sys/devices/system/cpu/{name}"));
        assert_eq!(cpu("online"), "0-127");
        assert_eq!(cpu("cpu69/topology/physical_package_id"), "1");
        assert_eq!(cpu("cpu69/topology/core_id"), "5");
        assert_eq!(cpu("cpu69/topology/thread_siblings_list"), "69");
        assert_eq!(cpu("cpu69/topology/cluster_cpus_list"), "69");
        assert_eq!(cpu("cpu69/topology/package_cpus_list"), "64-127");
        assert_eq!(cpu("cpu69/topology/core_siblings"), "ffffffff,ffffffff,00000000,00000000");
        assert_eq!(cpu("cpu69/cache/index2/size"), "512K");
        assert_eq!(cpu("cpu69/cache/index2/shared_cpu_list"), "69");
        assert_eq!(cpu("cpu69/cache/index3/level"), "3");
        assert_eq!(cpu("cpu69/cache/index3/size"), "16384K");
        assert_eq!(cpu("cpu69/cache/index3/shared_cpu_list"), "68-71");
        assert_eq!(cpu("cpu69/cache/index3/id"), "17");
        assert_eq!(read("sys/devices/system/node/node1/cpulist"), "64-127");
        assert_eq!(read("sys/devices/system/node/node1/distance"), "21 10");
        let info = read("proc/cpuinfo");
        assert_eq!(info.matches("processor\t:").count(), 128);
        assert_eq!(info.matches("physical id\t: 1").count(), 64);
    }

    #[test]
    fn tiles_share_a_second_cache() {
        let (_folder, read) = written("knl-68");
        let cpu = |name: &str| read(&format!("sys/devices/system/cpu/cpu3/{name}"));
        assert_eq!(cpu("topology/cluster_cpus_list"), "2-3");
        assert_eq!(cpu("cache/index2/level"), "2");
        assert_eq!(cpu("cache/index2/shared_cpu_list"), "2-3");
        assert_eq!(read("sys/devices/system/node/online"), "0");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let machine = Machine::parse("here-2").expect("a name");
        let error = write(&machine, file.path()).expect_err("a file is no folder").to_string();
        assert!(error.contains("sys/devices/system/cpu"), "{error}");
    }
}
