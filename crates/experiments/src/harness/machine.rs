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
    /// The name of the lab's machine that was measured instead of a real one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) simulated: Option<String>,
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
            kernel: kernel(),
            virtual_machine: field("flags").split(' ').any(|flag| flag == "hypervisor"),
            simulated: None,
        }
    }

    /// A machine of the lab: each socket is a NUMA node.
    pub(crate) fn simulated(name: &str, sockets: usize, cores_per_socket: usize) -> Self {
        let cores = sockets * cores_per_socket;
        Self {
            processor: format!("{name}, simulated"),
            processor_id: format!(
                "{sockets} socket{} of {cores_per_socket} cores",
                if sockets == 1 { "" } else { "s" }
            ),
            cores,
            numa_nodes: sockets,
            // As `heddle_lab::machine::tree` tells programs.
            memory_mib: 4096 * cores as u64,
            kernel: kernel(),
            virtual_machine: false,
            simulated: Some(name.to_owned()),
        }
    }

    /// The number of cores, and that they are simulated, for a picture.
    pub(crate) fn short(&self) -> String {
        match &self.simulated {
            Some(name) => format!("{} cores, simulated: {name}", self.cores),
            None => format!("{} cores", self.cores),
        }
    }

    /// In one line.
    pub(crate) fn sentence(&self) -> String {
        if let Some(name) = &self.simulated {
            let id = &self.processor_id;
            return format!(
                "Simulated: {name}, a machine of the lab with {id}, in virtual time; no such machine was measured"
            );
        }
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

/// System and release.
fn kernel() -> String {
    nix::sys::utsname::uname().map_or_else(
        |_| "unknown".to_owned(),
        |system| format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
    )
}

/// The NUMA nodes that the kernel has found; one where it does not say.
fn numa_nodes() -> usize {
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    let entries = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_str().is_some_and(is_node)).count().max(1)
}
