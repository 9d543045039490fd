//! What a command line says about places, in the words of MPICH's Hydra and of Open MPI.

use std::fmt;
use std::str::FromStr;

use heddle_topology::NodeKind;

/// The cores that a rank is bound to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Bind {
    /// As [`Share`](Self::Share) where each rank gets two cores or more, and otherwise to nothing.
    #[default]
    Spare,
    /// To nothing: the kernel places the ranks.
    Nothing,
    /// The cores of the machine are divided among the ranks, near ones together.
    Share,
    /// To units of this kind, so many.
    Units(NodeKind, Option<usize>),
    /// Rank by rank to these hardware threads, and from the first again.
    Listed(Vec<Vec<usize>>),
}

/// Where consecutive ranks go.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Map {
    /// From one unit of this kind to the next; without it from one place to the next one.
    pub(crate) over: Option<NodeKind>,
    /// At most so many ranks on a unit.
    pub(crate) per_unit: Option<usize>,
    /// How many cores a rank gets.
    pub(crate) cores: Option<usize>,
}

/// All of it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) bind: Bind,
    pub(crate) map: Map,
    /// Whether ranks are numbered from one unit of a kind to the next, instead of as they were placed.
    pub(crate) number_over: Option<NodeKind>,
    /// The only hardware threads to use.
    pub(crate) allowed: Option<Vec<usize>>,
    /// Whether the places are printed.
    pub(crate) is_reported: bool,
}

/// The values that are allowed in place of a value that is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowed(pub(crate) &'static str);

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

const BINDINGS: Allowed = Allowed(
    "none, share, hwthread, core, l3cache, numa, socket or machine, perhaps with a number of them (core:2), or user:0,1+2,3",
);
const MAPS: Allowed = Allowed(
    "slot, hwthread, core, l3cache, numa, socket or node, perhaps with PE=2 behind a colon, or ppr:2:socket",
);
const ORDERS: Allowed = Allowed("slot, hwthread, core, l3cache, numa, socket or node");
const THREADS: Allowed = Allowed("numbers of hardware threads, as 0,4-7");
const CORES: Allowed = Allowed("a number of cores from 1 on");

/// Words behind a colon that say what is so here: ranks may be more than cores, and nothing has to be
/// supported.
const HELD: [&str; 11] = [
    "oversubscribe",
    "no-overload",
    "nooversubscribe",
    "overload-allowed",
    "if-supported",
    "span",
    "inherit",
    "noinherit",
    "fill",
    "corecpus",
    "nolocal",
];

/// The kind of a unit; `None` for a machine, and for a place of a rank.
fn unit(name: &str) -> Option<Option<NodeKind>> {
    Some(match name {
        "hwthread" | "hwt" | "pu" => Some(NodeKind::HardwareThread),
        "core" | "l1cache" | "l2cache" | "l1dcache" => Some(NodeKind::Core),
        "l3cache" | "l3" => Some(NodeKind::L3),
        "numa" | "numanode" => Some(NodeKind::Numa),
        "socket" | "package" | "sockets" | "packages" => Some(NodeKind::Package),
        "node" | "machine" | "board" | "slot" | "host" | "" => None,
        _ => return None,
    })
}

fn positive(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&number| (1..=1 << 16).contains(&number))
}

/// Numbers and ranges of hardware threads, which `separator` divides.
pub(crate) fn threads(text: &str, separator: char) -> Result<Vec<usize>, Allowed> {
    let mut numbers = Vec::new();
    for part in text.split(separator) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ends: [Result<usize, _>; 2] = [first, last].map(FromStr::from_str);
        match ends {
            [Ok(first), Ok(last)] if first <= last && last < 1 << 16 => numbers.extend(first..=last),
            _ => return Err(THREADS),
        }
    }
    Ok(numbers)
}

impl Policy {
    /// `--bind-to`.
    pub(crate) fn bind_to(&mut self, value: &str) -> Result<(), Allowed> {
        let value = value.to_ascii_lowercase();
        if let Some(list) = value.strip_prefix("user:") {
            let places = list.split(',').map(|place| threads(place, '+').map_err(|_| BINDINGS));
            self.bind = Bind::Listed(places.collect::<Result<_, _>>()?);
            return Ok(());
        }
        let mut words = value.split(':');
        let name = words.next().unwrap_or_default();
        let mut number = None;
        for word in words {
            match word {
                "report" => self.is_reported = true,
                held if HELD.contains(&held) => {}
                other => number = Some(positive(other).ok_or(BINDINGS)?),
            }
        }
        self.bind = match (name, number) {
            ("none", None) => Bind::Nothing,
            ("share", None) => Bind::Share,
            // Hydra's round robin.
            ("rr", None) => Bind::Units(NodeKind::Core, None),
            // Modifiers alone.
            ("", None) => return Ok(()),
            (name, number) => match unit(name).ok_or(BINDINGS)? {
                Some(kind) => Bind::Units(kind, number),
                None if name == "slot" || name.is_empty() => return Err(BINDINGS),
                None => Bind::Units(NodeKind::Machine, None),
            },
        };
        Ok(())
    }

    /// `--map-by`; how many ranks each machine gets, if the value says that.
    pub(crate) fn map_by(&mut self, value: &str) -> Result<Option<u32>, Allowed> {
        let value = value.to_ascii_lowercase();
        let mut words = value.split(':');
        let mut name = words.next().unwrap_or_default();
        let mut per_unit = None;
        if name == "ppr" {
            per_unit = Some(words.next().and_then(positive).ok_or(MAPS)?);
            name = words.next().ok_or(MAPS)?;
        }
        let over = unit(name).ok_or(MAPS)?;
        for word in words {
            match word.split_once('=') {
                Some(("pe", number)) => self.map.cores = Some(positive(number).ok_or(MAPS)?),
                None if word == "hwtcpus" => self.bind = Bind::Units(NodeKind::HardwareThread, None),
                None if HELD.contains(&word) => {}
                _ => return Err(MAPS),
            }
        }
        if let (Some(number), None) = (per_unit, over) {
            return Ok(u32::try_from(number).ok());
        }
        self.map.over = over;
        self.map.per_unit = per_unit;
        Ok(None)
    }

    /// `--rank-by`.
    pub(crate) fn rank_by(&mut self, value: &str) -> Result<(), Allowed> {
        let value = value.to_ascii_lowercase();
        let name = value.split(':').next().unwrap_or_default();
        self.number_over = match name {
            "fill" | "span" => Some(NodeKind::HardwareThread),
            name => unit(name).ok_or(ORDERS)?,
        };
        Ok(())
    }

    /// `--cpu-set`.
    pub(crate) fn use_only(&mut self, value: &str) -> Result<(), Allowed> {
        self.allowed = Some(threads(value, ',')?);
        Ok(())
    }

    /// `--cpus-per-rank`.
    pub(crate) fn cores_per_rank(&mut self, value: &str) -> Result<(), Allowed> {
        self.map.cores = Some(positive(value).ok_or(CORES)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_launchers() {
        let bound = |value: &str| {
            let mut policy = Policy::default();
            policy.bind_to(value).map(|()| policy.bind)
        };
        for (value, bind) in [
            ("none", Bind::Nothing),
            ("share", Bind::Share),
            ("core", Bind::Units(NodeKind::Core, None)),
            ("core:4", Bind::Units(NodeKind::Core, Some(4))),
            ("Core:overload-allowed", Bind::Units(NodeKind::Core, None)),
            ("socket", Bind::Units(NodeKind::Package, None)),
            ("hwthread:2", Bind::Units(NodeKind::HardwareThread, Some(2))),
            ("l3cache", Bind::Units(NodeKind::L3, None)),
            ("machine", Bind::Units(NodeKind::Machine, None)),
            ("user:0,1+2,4-5", Bind::Listed(vec![vec![0], vec![1, 2], vec![4, 5]])),
            (":if-supported", Bind::Spare),
        ] {
            assert_eq!(bound(value), Ok(bind), "{value}");
        }
        for wrong in ["cores", "core:0", "core:x", "user:", "user:a", "none:2", "slot"] {
            assert_eq!(bound(wrong), Err(BINDINGS), "{wrong}");
        }
        let mapped = |value: &str| {
            let mut policy = Policy::default();
            policy.map_by(value).map(|machine| (policy.map, machine))
        };
        let map = |over, per_unit, cores| Map { over, per_unit, cores };
        for (value, expected) in [
            ("core", (map(Some(NodeKind::Core), None, None), None)),
            ("slot:PE=4", (map(None, None, Some(4)), None)),
            (":OVERSUBSCRIBE", (map(None, None, None), None)),
            ("numa:SPAN:PE=2", (map(Some(NodeKind::Numa), None, Some(2)), None)),
            ("ppr:2:socket", (map(Some(NodeKind::Package), Some(2), None), None)),
            ("ppr:8:node:pe=3", (map(None, None, Some(3)), Some(8))),
        ] {
            assert_eq!(mapped(value), Ok(expected), "{value}");
        }
        for wrong in ["sock", "ppr:socket", "ppr:0:socket", "ppr:2", "slot:pe=0", "core:what"] {
            assert_eq!(mapped(wrong), Err(MAPS), "{wrong}");
        }
        assert_eq!(threads("0,4-6", ','), Ok(vec![0, 4, 5, 6]));
        for wrong in ["", "a", "3-1", "0,", "99999"] {
            assert_eq!(threads(wrong, ','), Err(THREADS), "{wrong}");
        }
    }
}
