//! Where ranks may run, in the words of the launcher that places them on other machines.
//!
//! Without an option ranks are bound to nothing there: whether each gets two cores or more is known on each
//! machine alone.

use heddle_topology::NodeKind;

use crate::placement::{Bind, Map, Policy};

/// An option, and why the launcher cannot do what it says.
type Untold = (&'static str, &'static str);

const NO_SHARE: Untold = ("--bind-to share", "it divides no cores among ranks");
const NO_SET: Untold = ("--cpu-set", "hardware threads are chosen on this machine alone");
const NO_ORDER: Untold = ("--rank-by", "it numbers ranks as it places them");

/// PRRTE's words.
pub(super) fn for_prrte(policy: &Policy) -> Result<Vec<String>, Untold> {
    let Policy { bind, map, number_over, allowed, is_reported } = policy;
    refuse(number_over, allowed)?;
    let (mut cores, mut kind) = (map.cores, None);
    match bind {
        Bind::Nothing | Bind::Spare => {}
        Bind::Share => return Err(NO_SHARE),
        Bind::Units(NodeKind::Machine, _) => {}
        Bind::Units(NodeKind::Core, number) => (cores, kind) = (number.or(cores), Some(NodeKind::Core)),
        Bind::Units(other, None | Some(1)) => kind = Some(*other),
        Bind::Units(..) => {
            return Err(("--bind-to with a number of units", "it knows a number of cores alone"));
        }
        Bind::Listed(_) => {
            return Err(("--bind-to user", "it has no list of hardware threads, rank by rank"));
        }
    }
    if cores.is_some() && *bind == Bind::Spare {
        kind = Some(NodeKind::Core);
    }
    let over = map.over.map_or("slot", prrte_name);
    let over = map.per_unit.map_or_else(|| over.to_owned(), |number| format!("ppr:{number}:{over}"));
    let threads = if kind == Some(NodeKind::HardwareThread) { ":HWTCPUS" } else { "" };
    let cores = cores.map_or_else(String::new, |number| format!(":PE={number}"));
    let mut words = vec!["--map-by".to_owned(), format!("{over}{cores}{threads}")];
    words.extend(["--bind-to".to_owned(), kind.map_or("none", prrte_name).to_owned()]);
    if *is_reported {
        words.extend(["--display".to_owned(), "bind".to_owned()]);
    }
    Ok(words)
}

/// Hydra's words.
pub(super) fn for_hydra(policy: &Policy) -> Result<Vec<String>, Untold> {
    let Policy { bind, map, number_over, allowed, is_reported } = policy;
    refuse(number_over, allowed)?;
    let mut bound = match bind {
        Bind::Spare => None,
        Bind::Nothing => Some("none".to_owned()),
        Bind::Share => return Err(NO_SHARE),
        Bind::Units(kind, None) => Some(hydra_name(*kind).to_owned()),
        Bind::Units(kind, Some(number)) => Some(format!("{}:{number}", hydra_name(*kind))),
        Bind::Listed(places) => Some(format!("user:{}", list(places))),
    };
    let Map { over, per_unit, cores } = map;
    if per_unit.is_some() {
        return Err(("--map-by ppr", "it puts no limited number of ranks on a unit"));
    }
    if let Some(number) = cores {
        if *bind != Bind::Spare {
            return Err(("--map-by with PE and --bind-to", "it takes one of them"));
        }
        bound = Some(format!("core:{number}"));
    }
    if *is_reported {
        return Err(("--report-bindings", "it has no such option"));
    }
    let mapped = over.map(|kind| hydra_name(kind).to_owned());
    let pairs = [("-bind-to", bound), ("-map-by", mapped)];
    let pairs = pairs.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
    Ok(pairs.flatten().collect())
}

fn refuse(number_over: &Option<NodeKind>, allowed: &Option<Vec<usize>>) -> Result<(), Untold> {
    match (number_over, allowed) {
        (_, Some(_)) => Err(NO_SET),
        (Some(_), _) => Err(NO_ORDER),
        (None, None) => Ok(()),
    }
}

/// `0,1+2`: hardware threads, rank by rank.
fn list(places: &[Vec<usize>]) -> String {
    let join = |place: &Vec<usize>| place.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
    places.iter().map(join).collect::<Vec<_>>().join(",")
}

fn prrte_name(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Machine => "node",
        NodeKind::Package => "package",
        NodeKind::Numa => "numa",
        NodeKind::L3 => "l3cache",
        NodeKind::Core => "core",
        NodeKind::HardwareThread => "hwthread",
    }
}

fn hydra_name(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Machine => "machine",
        NodeKind::Package => "socket",
        other => prrte_name(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(options: &[(&str, &str)]) -> Policy {
        let mut policy = Policy::default();
        for (option, value) in options {
            match *option {
                "bind-to" => policy.bind_to(value).expect("a binding"),
                "map-by" => assert_eq!(policy.map_by(value), Ok(None)),
                "rank-by" => policy.rank_by(value).expect("an order"),
                "report" => policy.is_reported = true,
                _ => policy.use_only(value).expect("threads"),
            }
        }
        policy
    }

    #[test]
    fn bindings_in_the_words_of_both() {
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
        let cases: [Case; 8] = [
            (&[], "--map-by slot --bind-to none", ""),
            (&[("bind-to", "core")], "--map-by slot --bind-to core", "-bind-to core"),
            (&[("bind-to", "core:4")], "--map-by slot:PE=4 --bind-to core", "-bind-to core:4"),
            (&[("map-by", "slot:PE=2")], "--map-by slot:PE=2 --bind-to core", "-bind-to core:2"),
            (
                &[("map-by", "numa"), ("bind-to", "numa")],
                "--map-by numa --bind-to numa",
                "-bind-to numa -map-by numa",
            ),
            (&[("bind-to", "hwthread")], "--map-by slot:HWTCPUS --bind-to hwthread", "-bind-to hwthread"),
            (&[("bind-to", "socket")], "--map-by slot --bind-to package", "-bind-to socket"),
            (&[("bind-to", "machine")], "--map-by slot --bind-to none", "-bind-to machine"),
        ];
        for (options, prrte, hydra) in cases {
            let policy = policy(options);
            assert_eq!(for_prrte(&policy).expect("PRRTE has it").join(" "), prrte, "{options:?}");
            assert_eq!(for_hydra(&policy).expect("Hydra has it").join(" "), hydra, "{options:?}");
        }
        let limited = policy(&[("map-by", "ppr:2:socket"), ("report", "")]);
        assert_eq!(
            for_prrte(&limited).expect("PRRTE has it").join(" "),
            "--map-by ppr:2:package --bind-to none --display bind"
        );
        assert!(for_hydra(&limited).is_err());
        let listed = policy(&[("bind-to", "user:0,1+2")]);
        assert_eq!(for_hydra(&listed).expect("Hydra has it").join(" "), "-bind-to user:0,1+2");
        assert!(for_prrte(&listed).is_err());
        for (option, value) in [("bind-to", "share"), ("rank-by", "core"), ("cpu-set", "0")] {
            let policy = policy(&[(option, value)]);
            assert!(for_prrte(&policy).is_err() && for_hydra(&policy).is_err(), "{option}");
        }
    }
}
