//! The start of a program on the machine: qemu runs it, with the plugin that counts its time.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The paths of the lab. Launchers hand them on in their environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// `qemu-x86_64`.
    pub qemu: PathBuf,
    /// The plugin, which is preloaded into launchers and programs too.
    pub plugin: PathBuf,
    /// What programs see under `/sys` and `/proc`.
    pub tree: PathBuf,
    /// The file that is the machine's memory.
    pub lab: PathBuf,
    /// Moves the starts of threads, and is behind all random numbers.
    pub seed: u64,
}

const QEMU: &str = "HEDDLELAB_QEMU";
const PLUGIN: &str = "HEDDLELAB_PLUGIN";
const TREE: &str = "HEDDLELAB_TREE";
const SIMULATION: &str = "HEDDLELAB_SIMULATION";
const SEED: &str = "HEDDLELAB_SEED";

/// By one of these a launcher says that a process is a rank.
pub const RANK_VARIABLES: [&str; 4] = ["HEDDLE_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"];

/// Programs that start others and run beside the machine.
const LAUNCHERS: [&str; 8] =
    ["mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.gforker", "prterun", "prun", "orterun", "srun"];

/// Whether `program` starts the processes of a job.
#[must_use]
pub fn is_launcher(program: &Path) -> bool {
    let name = program.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| LAUNCHERS.contains(&name))
}

impl Places {
    /// The variables that a launcher gets.
    #[must_use]
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let pair = |name: &str, value: &OsStr| (OsString::from(name), value.to_owned());
        vec![
            pair(QEMU, self.qemu.as_os_str()),
            pair(PLUGIN, self.plugin.as_os_str()),
            pair(TREE, self.tree.as_os_str()),
            pair(SIMULATION, self.lab.as_os_str()),
            pair(SEED, self.seed.to_string().as_ref()),
        ]
    }

    /// What the variables say; `None` beside no machine.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        Some(Self {
            qemu: variable(QEMU)?.into(),
            plugin: variable(PLUGIN)?.into(),
            tree: variable(TREE)?.into(),
            lab: variable(SIMULATION)?.into(),
            seed: variable(SEED)?.to_str()?.parse().ok()?,
        })
    }

    /// The command that runs `arguments` (the program's name first) from `program` on the machine.
    #[must_use]
    pub fn command(&self, program: &Path, arguments: &[OsString]) -> Vec<OsString> {
        let mut preload = OsString::from("LD_PRELOAD=");
        preload.push(&self.plugin);
        let mut plugin = self.plugin.clone().into_os_string();
        plugin.push(",lab=");
        plugin.push(&self.lab);
        plugin.push(format!(",seed={},folder=", self.seed));
        plugin.push(&self.tree);
        let mut command: Vec<OsString> = vec![self.qemu.clone().into()];
        command.extend(["-L".into(), self.tree.clone().into()]);
        command.extend(["-seed".into(), self.seed.to_string().into(), "-E".into(), preload]);
        command.extend(["-plugin".into(), plugin]);
        if let Some(name) = arguments.first() {
            command.extend(["-0".into(), name.clone()]);
        }
        command.push(program.into());
        command.extend(arguments.iter().skip(1).cloned());
        command
    }
}

/// The file that `name` means: as a shell finds it.
#[must_use]
pub fn find_program(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let program = Path::new(name);
    if program.components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return program.exists().then(|| program.to_owned());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}
