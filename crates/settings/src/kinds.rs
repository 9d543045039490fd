//! Kinds of values that settings here have.

use crate::cores::Cores;
use crate::spread_rule::SpreadRule;
use heddle_bootstrap::Mechanism;
use heddle_model::counters::MOST_VNIS;
use heddle_model::{Custom, Model, Number, OneOf, ValueKind, Values};
use heddle_platform::background::online_cores;
use heddle_spec::constants as mpi;
use std::num::NonZero;
use std::time::Duration;

/// The values that stand for what a setting leaves open.
pub(crate) const AUTO: &str = "auto";
pub(crate) const ANY: &str = "any";
/// The value that turns a setting off.
pub(crate) const OFF: &str = "off";
const UNLIMITED: &str = "unlimited";

/// The names of models.
pub(crate) const MODELS: Custom<Model> = Custom {
    form: Values::Text,
    allowed: || Model::names().collect::<Vec<_>>().join(", "),
    read: |text| Model::named(text).map_err(|error| error.to_string()),
    write: ToString::to_string,
    examples: || Model::names().collect(),
};

/// Levels of thread support.
pub(crate) const LEVELS: OneOf<i32> = OneOf {
    values: &[
        mpi::MPI_THREAD_SINGLE,
        mpi::MPI_THREAD_FUNNELED,
        mpi::MPI_THREAD_SERIALIZED,
        mpi::MPI_THREAD_MULTIPLE,
    ],
    name: |level| match level {
        mpi::MPI_THREAD_SINGLE => "single",
        mpi::MPI_THREAD_FUNNELED => "funneled",
        mpi::MPI_THREAD_SERIALIZED => "serialized",
        _ => "multiple",
    },
};

/// Numbers of VNIs. `None` is written as the number that a process has at least.
pub(crate) const VNIS: Custom<Option<usize>> = Custom {
    form: Values::Numbers,
    allowed: || VNI_NUMBERS.allowed(),
    read: |text| VNI_NUMBERS.read(text).map(Some),
    write: |vnis| vnis.unwrap_or_else(|| vnis_for(cores(), None)).to_string(),
    examples: || vec!["1", "64"],
};

const VNI_NUMBERS: Number<usize> = Number { least: 1, most: MOST_VNIS };

/// The number of VNIs of a process that may run on `cores` cores: two per core. With fewer, threads often
/// share one. From 9 cores on it depends on the process's share of them, since ranks with a core each have
/// few threads; `None` if the number has to be the same whatever the share.
pub(crate) fn vnis_for(cores: usize, share: Option<usize>) -> usize {
    let least = (2 * cores).clamp(4, 16);
    share.map_or(least, |share| (2 * share).clamp(least, MOST_VNIS))
}

/// The number of cores on which the process may run.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The share of the cores of a process that is one of `ranks` on the machine. A process that is bound to some
/// cores may have a share already.
pub(crate) fn share_of_cores(ranks: usize) -> usize {
    cores().min(online_cores() / ranks)
}

/// On or off.
pub(crate) const SWITCH: Custom<bool> = Custom {
    form: Values::Names,
    allowed: || "on, off".to_owned(),
    read: |text| match text {
        "on" | "1" => Ok(true),
        "off" | "0" => Ok(false),
        _ => Err("\"on\" (or 1) or \"off\" (or 0) is wanted".to_owned()),
    },
    write: |is_on| if *is_on { "on" } else { "off" }.to_owned(),
    examples: || vec!["on", "off"],
};

/// When messages are spread.
pub(crate) const SPREAD_RULES: OneOf<SpreadRule> = OneOf {
    values: &[SpreadRule::Never, SpreadRule::Contended, SpreadRule::Always],
    name: |rule| match rule {
        SpreadRule::Never => "never",
        SpreadRule::Contended => "contended",
        SpreadRule::Always => "always",
    },
};

/// A number of bytes. The form is text, since a number in MPI_T has 32 bits.
pub(crate) const BYTES: Custom<usize> = Custom {
    form: Values::Text,
    allowed: || format!("a number from 0, or {UNLIMITED}"),
    read: |text| match text {
        UNLIMITED => Ok(usize::MAX),
        _ => text.parse().map_err(|_| format!("a number from 0, or \"{UNLIMITED}\", is wanted")),
    },
    write: |bytes| match *bytes {
        usize::MAX => UNLIMITED.to_owned(),
        bytes => bytes.to_string(),
    },
    examples: || vec!["0", UNLIMITED],
};

/// Launchers.
pub(crate) const MECHANISMS: Custom<Mechanism> = Custom {
    form: Values::Names,
    allowed: || Mechanism::names().collect::<Vec<_>>().join(", "),
    read: |text| text.parse().map_err(|()| format!("one of {} is wanted", (MECHANISMS.allowed)())),
    write: |mechanism| mechanism.name().to_owned(),
    examples: || Mechanism::names().collect(),
};

/// The providers of libfabric, which names of the form `tcp;ofi_rxm` are made of.
const PROVIDERS: [&str; 16] = [
    "tcp", "verbs", "udp", "shm", "sm2", "cxi", "psm3", "psm2", "efa", "opx", "lpp", "ucx", "net", "sockets",
    "ofi_rxm", "ofi_rxd",
];

/// A provider of libfabric, or a word in its place.
pub(crate) const FABRICS: Custom<String> = Custom {
    form: Values::Text,
    allowed: || format!("{AUTO}, {OFF}, or the name of a provider, such as tcp;ofi_rxm"),
    read: |text| match text == AUTO || text == OFF || text.split(';').all(|part| PROVIDERS.contains(&part)) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "{AUTO}, {OFF}, or a provider made of {} is wanted, such as tcp;ofi_rxm",
            PROVIDERS.join(", ")
        )),
    },
    write: String::clone,
    examples: || vec![AUTO, OFF, "tcp;ofi_rxm"],
};

/// A network interface or device.
pub(crate) const FABRIC_DOMAINS: Custom<String> = Custom {
    form: Values::Text,
    allowed: || format!("{ANY}, or a name"),
    read: |text| match text.is_empty() || text.contains(char::is_whitespace) {
        true => Err(format!("{ANY}, or the name of a network interface or device, is wanted")),
        false => Ok(text.to_owned()),
    },
    write: String::clone,
    examples: || vec![ANY],
};

/// A day, in seconds.
const LONGEST_TIMEOUT: u64 = 86_400;

/// A time in seconds; `None`: for ever.
pub(crate) const TIMEOUTS: Custom<Option<Duration>> = Custom {
    form: Values::Text,
    allowed: || format!("a number from 1 to {LONGEST_TIMEOUT}, or {OFF}"),
    read: |text| match text.parse() {
        Ok(seconds @ 1..=LONGEST_TIMEOUT) => Ok(Some(Duration::from_secs(seconds))),
        _ if text == OFF => Ok(None),
        _ => Err(format!("a number of seconds from 1 to {LONGEST_TIMEOUT}, or {OFF}, is wanted")),
    },
    write: |timeout| timeout.map_or(OFF.to_owned(), |timeout| timeout.as_secs().to_string()),
    examples: || vec!["1", OFF],
};

/// Lists of cores.
pub(crate) const CORES: Custom<Cores> = Custom {
    form: Values::Text,
    allowed: Cores::allowed,
    read: Cores::parse,
    write: ToString::to_string,
    examples: || vec![ANY, "0"],
};

/// The algorithms of window locks, all of `heddle-rma-locks`.
pub(crate) const WIN_LOCKS: OneOf<&str> = OneOf {
    values: &["queue-rw", "rma-rw", "rma-mcs", "d-mcs", "spin", "rw", "adaptive"],
    name: |name| name,
};

/// The most bypasses that can be asked for: with more, a lock is as unfair as `spin`.
const MOST_BYPASSES: u64 = 1_000_000;

/// Numbers of bypasses.
pub(crate) const BYPASSES: Custom<u64> = Custom {
    form: Values::Numbers,
    allowed: || format!("a number from 0 to {MOST_BYPASSES}"),
    read: bypasses,
    write: ToString::to_string,
    examples: || vec!["0", "100"],
};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vnis_follow_the_share_of_the_cores_from_nine_cores_on() {
        for (cores, share, vnis) in [
            (1, Some(1), 4),
            (2, Some(2), 4),
            (4, Some(1), 8),
            (8, Some(8), 16),
            (16, Some(16), 32),
            (16, Some(1), 16),
            (88, Some(44), 64),
            (88, Some(22), 44),
            (88, Some(1), 16),
            (88, None, 16),
            (2, None, 4),
        ] {
            assert_eq!(vnis_for(cores, share), vnis, "{cores} cores, a share of {share:?}");
        }
    }
}
