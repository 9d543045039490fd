//! Facts about the machine that belong beside every figure.

use std::fs;

use serde::{Deserialize, Serialize};

/// The machine of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// The processor's name.
    pub(crate) processor: String,
    /// Family, model and stepping, which tell what a virtual machine's name hides.
    pub(crate) processor_id: String,
    /// Cores this program may use.
    pub(crate) cores: usize,
    /// NUMA nodes.
    #[serde(default)]
    pub(crate) numa_nodes: usize,
    /// Memory in MiB.
    pub(crate) memory_mib: u64,
    /// System and release.
    pub(crate) kernel: String,
    /// The hypervisor's mark, if any.
    pub(crate) virtual_machine: bool,
}

impl Machine {
    /// Reads the facts.
    pub(crate) fn read() -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            cpu.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map_or("unknown", |(_, value)| value.trim())
        };
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let memory_kib = memory.lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        let kernel = nix::sys::utsname::uname().map_or_else(
            |_| "unknown".to_owned(),
            |system| format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
        );
        Self {
            processor: field("model name").to_owned(),
            processor_id: format!(
                "family {} model {} stepping {}",
                field("cpu family"),
                field("model"),
                field("stepping")
            ),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            numa_nodes: numa_nodes(),
            memory_mib: memory_kib.unwrap_or(0_u64) / 1024,
            kernel,
            virtual_machine: field("flags").split(' ').any(|flag| flag == "hypervisor"),
        }
    }

    /// In one line.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "{} ({}), {} cores, {:.1} GiB, {}{}",
            self.processor,
            self.processor_id,
            self.cores,
            self.memory_mib as f64 / 1024.0,
            self.kernel,
            if self.virtual_machine { ", virtual machine" } else { "" }
        )
    }
}

/// The NUMA nodes that the kernel has found; one where it does not say.
fn numa_nodes() -> usize {
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    let entries = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_str().is_some_and(is_node)).count().max(1)
}
