//! Settings: what the environment and MPI_T's control variables choose. They are read once, at
//! initialisation; a wrong value is an error that names the allowed ones.
//!
//! This crate is the one place that describes a setting: `heddle info`, MPI_T and the reference page
//! (`docs/reference.md`) come from [`Variable::all`] and [`info_keys`]. The crate stands on `heddle-model`,
//! which describes the parts of a model, and on `heddle-bootstrap`; `heddle-message`, `heddle-comm`,
//! `heddle-p2p`, `heddle-collective`, `heddle-engine`, `heddle-tool`, `heddle-abi` and `heddle-cli` use it.
//! All functions may be called by any thread.
//!
//! | file | idea |
//! |---|---|
//! | `lib.rs` | the settings that are no part of the model, and their values in this process |
//! | `setting.rs` | the description of a setting |
//! | `given.rs` | the values given to variables |
//! | `collectives.rs` | the algorithms of collective operations, and where one takes over from another |
//! | `algorithm.rs` | the names of these algorithms |
//! | `variable.rs` | every environment variable: the settings here and the parts of the model |
//! | `info_keys.rs` | the info keys that Heddle knows |
//! | `cores.rs` | a list of cores |

mod algorithm;
mod collectives;
mod cores;
mod given;
pub mod info_keys;
mod setting;
mod variable;

pub use algorithm::Algorithm;
pub use collectives::Collectives;
pub use cores::Cores;
pub use given::{given, write};
pub use setting::Setting;
pub use variable::Variable;

use given::variable_or;
use heddle_bootstrap::Mechanism;
use heddle_model::counters::MOST_VNIS;
use heddle_model::{Class, Model, ModelError, OFFLOAD, Values};
use heddle_sync::WaitPolicy;
use std::sync::OnceLock;
use std::time::Duration;

/// The settings of a process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `HEDDLE_MODEL`: the thread-safety model.
    pub model: Model,
    /// `HEDDLE_VNIS`: independent communication paths in each process.
    pub vnis: usize,
    /// `HEDDLE_SINGLE_COPY`: whether large messages may be copied straight from process to process.
    pub single_copy: bool,
    /// `HEDDLE_BLACKBOARDS`: whether collective operations go through memory that processes share.
    pub blackboards: bool,
    /// `HEDDLE_UNEXPECTED_BYTES`: the memory for unexpected messages of a VNI, beyond which senders wait.
    pub unexpected_bytes: usize,
    /// `HEDDLE_STRICT`: whether what the standard calls an error is refused where other libraries accept it.
    pub strict: bool,
    /// `HEDDLE_STATS`: whether the process prints its counters at the end.
    pub statistics: bool,
    /// `HEDDLE_BOOTSTRAP`: the launcher that has started the process.
    pub bootstrap: Mechanism,
    /// `HEDDLE_FABRIC`: the network between machines, `auto`, `off`, or a provider of libfabric.
    pub fabric: String,
    /// `HEDDLE_FABRIC_DOMAIN`: the network interface or device, or `any`.
    pub fabric_domain: String,
    /// `HEDDLE_PEER_TIMEOUT`: a rank on another machine that was silent for so long is lost; `None` if none
    /// ever is.
    pub peer_timeout: Option<Duration>,
    /// `HEDDLE_OFFLOAD_CORES`: the cores on which the threads of execution `offload` run.
    pub offload_cores: Cores,
    /// `HEDDLE_WIN_LOCK`: the algorithm of window locks, by its name.
    pub win_lock: String,
    /// `HEDDLE_WIN_LOCK_BYPASSES`: how many processes may enter a window
    /// lock past those that wait in its queue.
    pub win_lock_bypasses: u64,
    /// How collective operations are carried out.
    pub collectives: Collectives,
    /// How threads wait.
    pub wait: WaitPolicy,
}

/// Every setting except those of collective operations, and the [parts](heddle_model::PARTS) of the model.
pub const SETTINGS: &[Setting<Settings>] = &[
    Setting {
        variable: "HEDDLE_MODEL",
        class: Class::User,
        meaning: "the thread-safety model",
        values: Values::Text,
        common: false,
        allowed: || Model::names().collect::<Vec<_>>().join(", "),
        default: "per-vni-mutex",
        get: |settings| settings.model.to_string(),
        check: |text| Model::named(text).map(drop).map_err(|error| error.to_string()),
    },
    Setting {
        variable: "HEDDLE_VNIS",
        class: Class::User,
        meaning: "independent communication paths (virtual network interfaces) in each process; communicators are distributed over them",
        values: Values::Numbers,
        common: true,
        allowed: || format!("a number from 1 to {MOST_VNIS}"),
        default: "two per core, at least 4 and at most 16",
        get: |settings| settings.vnis.to_string(),
        check: |text| vnis(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_SINGLE_COPY",
        class: Class::Tuning,
        meaning: "whether large messages may be copied straight from one process's memory to another's",
        values: Values::Names,
        common: false,
        allowed: || ON_OR_OFF.to_owned(),
        default: "on",
        get: |settings| on_or_off(settings.single_copy),
        check: |text| switch(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_BLACKBOARDS",
        class: Class::Tuning,
        meaning: "whether collective operations go through memory that all processes of a communicator share, and not by messages; if one process says off, the communicator has none",
        values: Values::Names,
        common: false,
        allowed: || ON_OR_OFF.to_owned(),
        default: "on",
        get: |settings| on_or_off(settings.blackboards),
        check: |text| switch(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_UNEXPECTED_BYTES",
        class: Class::User,
        meaning: "the memory in bytes that unexpected messages may take on each VNI of a process; beyond it senders wait for their receives",
        // Text, since a number in MPI_T has 32 bits.
        values: Values::Text,
        common: false,
        allowed: || "a number from 0, or unlimited".to_owned(),
        default: "1073741824",
        get: |settings| match settings.unexpected_bytes {
            usize::MAX => UNLIMITED.to_owned(),
            bytes => bytes.to_string(),
        },
        check: |text| bytes(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_STRICT",
        class: Class::User,
        meaning: "whether Heddle refuses what the standard calls an error where MPICH, Open MPI and Intel MPI all accept it; docs/leniency.md lists that",
        values: Values::Names,
        common: true,
        allowed: || ON_OR_OFF.to_owned(),
        default: "off",
        get: |settings| on_or_off(settings.strict),
        check: |text| switch(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_STATS",
        class: Class::User,
        meaning: "whether each process prints its counters at the end",
        values: Values::Names,
        common: false,
        allowed: || ON_OR_OFF.to_owned(),
        default: "off",
        get: |settings| on_or_off(settings.statistics),
        check: |text| switch(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_BOOTSTRAP",
        class: Class::User,
        meaning: "the launcher that has started the process: Heddle's mpiexec (builtin), one that speaks PMIx, as prterun, Open MPI's mpiexec and srun do (pmix), one that speaks PMI-1, as MPICH's does (pmi), or PMI-2, as srun --mpi=pmi2 does (pmi2), none (single), or the first of them that has left its variables (auto)",
        values: Values::Names,
        common: false,
        allowed: || Mechanism::names().collect::<Vec<_>>().join(", "),
        default: "auto",
        get: |settings| settings.bootstrap.name().to_owned(),
        check: |text| bootstrap(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_FABRIC",
        class: Class::User,
        meaning: "the network between machines: the first provider of libfabric that connects them (auto), none (off), or a provider by its name, as fi_info shows it; a provider is opened even if another launcher than Heddle's says that all ranks run on one machine",
        values: Values::Text,
        common: true,
        allowed: || format!("{AUTO}, {OFF}, or the name of a provider, such as tcp;ofi_rxm"),
        default: AUTO,
        get: |settings| settings.fabric.clone(),
        check: |text| fabric(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_FABRIC_DOMAIN",
        class: Class::User,
        meaning: "the network interface or device that HEDDLE_FABRIC uses, as fi_info shows it (domain)",
        values: Values::Text,
        common: false,
        allowed: || format!("{ANY}, or a name"),
        default: ANY,
        get: |settings| settings.fabric_domain.clone(),
        check: |text| fabric_domain(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_PEER_TIMEOUT",
        class: Class::User,
        meaning: "the seconds after which a rank on another machine is lost if nothing was heard of it; off never gives one up, as a debugger wants that stops processes",
        values: Values::Text,
        common: false,
        allowed: || format!("a number from 1 to {LONGEST_PEER_TIMEOUT}, or {OFF}"),
        default: "10",
        get: |settings| settings.peer_timeout.map_or(OFF.to_owned(), |timeout| timeout.as_secs().to_string()),
        check: |text| peer_timeout(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_OFFLOAD_CORES",
        class: Class::User,
        meaning: "the cores on which the threads of execution offload run, one after the other",
        values: Values::Text,
        common: false,
        allowed: Cores::allowed,
        default: "any",
        get: |settings| settings.offload_cores.to_string(),
        check: |text| Cores::parse(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_WIN_LOCK",
        class: Class::Tuning,
        meaning: "the algorithm of the locks of a window, unless the info key heddle_win_lock names one when it is made",
        values: Values::Names,
        common: true,
        allowed: || WIN_LOCKS.join(", "),
        default: WIN_LOCKS[0],
        get: |settings| settings.win_lock.clone(),
        check: |text| win_lock(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_WIN_LOCK_BYPASSES",
        class: Class::Tuning,
        meaning: "under the window locks rma-rw, rma-mcs and d-mcs, how many processes may enter past those that wait, between two of the queue, unless the info key heddle_win_lock_bypasses says it; 0: strict order, as in the paper",
        values: Values::Numbers,
        common: true,
        allowed: || format!("a number from 0 to {MOST_BYPASSES}"),
        default: "1000",
        get: |settings| settings.win_lock_bypasses.to_string(),
        check: |text| bypasses(text).map(drop),
    },
];

/// The algorithms of window locks, all of `heddle-rma-locks`.
pub const WIN_LOCKS: [&str; 6] = ["queue-rw", "rma-rw", "rma-mcs", "d-mcs", "spin", "rw"];

fn win_lock(text: &str) -> Result<String, String> {
    match WIN_LOCKS.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("one of {} is wanted", WIN_LOCKS.join(", "))),
    }
}

/// The most bypasses that can be asked for: with more, a lock is as unfair as `spin`.
const MOST_BYPASSES: u64 = 1_000_000;

/// The number of bypasses if none is given: their entries, at some 50 ns each, take as long as a few
/// hand-overs to processes without a core.
pub const WIN_LOCK_BYPASSES: u64 = 1000;

/// Reads a number of bypasses.
///
/// # Errors
/// A sentence that says what is wanted.
pub fn bypasses(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(number @ 0..=MOST_BYPASSES) => Ok(number),
        _ => Err(format!("a number from 0 to {MOST_BYPASSES} is wanted")),
    }
}

fn bootstrap(text: &str) -> Result<Mechanism, String> {
    text.parse()
        .map_err(|()| format!("one of {} is wanted", Mechanism::names().collect::<Vec<_>>().join(", ")))
}

const AUTO: &str = "auto";
const OFF: &str = "off";
const ANY: &str = "any";

/// The providers of libfabric, which names of the form `tcp;ofi_rxm` are made of.
const PROVIDERS: [&str; 16] = [
    "tcp", "verbs", "udp", "shm", "sm2", "cxi", "psm3", "psm2", "efa", "opx", "lpp", "ucx", "net", "sockets",
    "ofi_rxm", "ofi_rxd",
];

fn fabric(text: &str) -> Result<String, String> {
    match text == AUTO || text == OFF || text.split(';').all(|part| PROVIDERS.contains(&part)) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "{AUTO}, {OFF}, or a provider made of {} is wanted, such as tcp;ofi_rxm",
            PROVIDERS.join(", ")
        )),
    }
}

fn fabric_domain(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(char::is_whitespace) {
        true => Err(format!("{ANY}, or the name of a network interface or device, is wanted")),
        false => Ok(text.to_owned()),
    }
}

/// A day, in seconds.
const LONGEST_PEER_TIMEOUT: u64 = 86_400;

fn peer_timeout(text: &str) -> Result<Option<Duration>, String> {
    match text.parse() {
        Ok(seconds @ 1..=LONGEST_PEER_TIMEOUT) => Ok(Some(Duration::from_secs(seconds))),
        _ if text == OFF => Ok(None),
        _ => Err(format!("a number of seconds from 1 to {LONGEST_PEER_TIMEOUT}, or {OFF}, is wanted")),
    }
}

const ON_OR_OFF: &str = "on, off";

fn on_or_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "1" => Ok(true),
        "off" | "0" => Ok(false),
        _ => Err("\"on\" (or 1) or \"off\" (or 0) is wanted".to_owned()),
    }
}

fn vnis(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=MOST_VNIS) => Ok(count),
        _ => Err(format!("a number from 1 to {MOST_VNIS} is wanted")),
    }
}

const UNLIMITED: &str = "unlimited";

fn bytes(text: &str) -> Result<usize, String> {
    match text {
        UNLIMITED => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "a number from 0, or \"unlimited\", is wanted".to_owned()),
    }
}

impl Settings {
    /// Reads the values written to control variables, and the environment for all other settings.
    ///
    /// # Errors
    /// A message that names the variable, its value and the allowed ones.
    pub fn chosen() -> Result<Settings, String> {
        let settings = Settings {
            model: model()?,
            vnis: variable_or("HEDDLE_VNIS", default_vnis(), vnis)?,
            single_copy: variable_or("HEDDLE_SINGLE_COPY", true, switch)?,
            blackboards: variable_or("HEDDLE_BLACKBOARDS", true, switch)?,
            unexpected_bytes: variable_or("HEDDLE_UNEXPECTED_BYTES", 1 << 30, bytes)?,
            strict: variable_or("HEDDLE_STRICT", false, switch)?,
            statistics: variable_or("HEDDLE_STATS", false, switch)?,
            bootstrap: variable_or("HEDDLE_BOOTSTRAP", Mechanism::Auto, bootstrap)?,
            fabric: variable_or("HEDDLE_FABRIC", AUTO.to_owned(), fabric)?,
            fabric_domain: variable_or("HEDDLE_FABRIC_DOMAIN", ANY.to_owned(), fabric_domain)?,
            peer_timeout: variable_or("HEDDLE_PEER_TIMEOUT", Some(Duration::from_secs(10)), peer_timeout)?,
            offload_cores: variable_or("HEDDLE_OFFLOAD_CORES", Cores::default(), Cores::parse)?,
            win_lock: variable_or("HEDDLE_WIN_LOCK", WIN_LOCKS[0].to_owned(), win_lock)?,
            win_lock_bypasses: variable_or("HEDDLE_WIN_LOCK_BYPASSES", WIN_LOCK_BYPASSES, bypasses)?,
            collectives: Collectives::chosen()?,
            wait: WaitPolicy::default(),
        };
        if settings.offload_cores != Cores::default() {
            let check = OFFLOAD.check("HEDDLE_OFFLOAD_CORES", &settings.model);
            check.map_err(|error| error.to_string())?;
        }
        Ok(settings)
    }
}

/// The model of `HEDDLE_MODEL`, with the parts whose variables are set.
fn model() -> Result<Model, String> {
    let name = given("HEDDLE_MODEL")?;
    let mut unreadable = Ok(());
    let model = Model::choose(name.as_deref(), |part| match given(part.variable) {
        Ok(value) => value,
        Err(why) => {
            unreadable = Err(why);
            None
        }
    });
    unreadable?;
    model.map_err(|error| match error {
        ModelError::Unknown { .. } => format!("the environment variable HEDDLE_MODEL: {error}"),
        ModelError::Part { .. } => format!("the environment variable {error}"),
        ModelError::WithoutEffect { .. } | ModelError::Senseless(_) => error.to_string(),
    })
}

impl Settings {
    /// The provider and the domain of libfabric that are asked for, where `None` stands for any;
    /// no pair if no network is wanted.
    #[must_use]
    pub fn network(&self) -> Option<(Option<&str>, Option<&str>)> {
        let unless = |value: &str, setting| (setting != value).then_some(setting);
        match self.fabric.as_str() {
            OFF => None,
            fabric => Some((unless(AUTO, fabric), unless(ANY, self.fabric_domain.as_str()))),
        }
    }
}

/// Two VNIs per core, within bounds: with fewer, threads often share one; with more, waiting threads have
/// more to poll.
fn default_vnis() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| 2 * cores.get()).clamp(4, 16)
}

heddle_platform::per_process! {
    static IN_FORCE: OnceLock<Settings> = OnceLock::new();
}

/// The settings with which MPI was initialised; `None` before that.
pub fn in_force() -> Option<&'static Settings> {
    IN_FORCE.get()
}

/// Returns true if `HEDDLE_STRICT` is on. Every check that is left out for programs which other libraries run
/// asks here; `docs/leniency.md` lists these checks.
pub fn is_strict() -> bool {
    in_force().is_some_and(|settings| settings.strict)
}

/// Puts settings in force for the rest of the process, and returns those in force: the first caller's.
pub fn put_in_force(settings: Settings) -> &'static Settings {
    IN_FORCE.get_or_init(|| settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_allows_the_value_that_it_has_and_refuses_nonsense() {
        let settings = Settings::chosen().expect("an environment without settings");
        for variable in Variable::all() {
            assert_eq!(variable.check(&variable.get(&settings)), Ok(()), "{}", variable.name());
            assert!(variable.check("no sense").is_err(), "{}", variable.name());
        }
    }

    #[test]
    fn defaults_are_what_an_empty_environment_gives() {
        let settings = Settings::chosen().expect("an environment without settings");
        for variable in Variable::all().filter(|variable| variable.name() != "HEDDLE_VNIS") {
            assert_eq!(variable.get(&settings), variable.default(), "{}", variable.name());
        }
        assert!((4..=16).contains(&settings.vnis));
    }
}
