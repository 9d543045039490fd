//! The machines that have a name. `docs/lab-machines.md` says where each figure comes from.

use super::{Costs, Machine};

/// What the named machines are: sockets, clusters per socket, cores per cluster, level of the clusters'
/// cache.
const KNOWN: [(&str, [usize; 4], Costs); 7] = [
    ("xeon-16", [1, 1, 16, 3], XEON_16),
    ("haswell-88", [2, 1, 44, 3], HASWELL_88),
    ("xeon-6242", [2, 1, 16, 3], XEON_6242),
    ("xeon-8375c", [2, 1, 32, 3], PLAIN),
    ("epyc-7742", [2, 16, 4, 3], EPYC_7742),
    ("knl-68", [1, 34, 2, 2], KNL_68),
    ("here-2", [1, 1, 2, 3], HERE_2),
];

/// The names of the machines.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, ..)| *name)
}

/// The machine of this name.
pub(super) fn machine(name: &str) -> Option<Machine> {
    let (name, [sockets, clusters, cores, last_level], costs) =
        KNOWN.into_iter().find(|(known, ..)| *known == name)?;
    Some(Machine { name: name.to_owned(), sockets, clusters, cores, last_level, costs })
}

/// Lines in `n` KiB.
const fn kib(n: u64) -> u64 {
    n << 10 >> 6
}

/// Lines in `n` MiB.
const fn mib(n: u64) -> u64 {
    kib(n << 10)
}

/// A 16-core virtual machine of a Xeon of the fifth generation (Emerald Rapids), without hyperthreads.
const XEON_16: Costs = Costs {
    instruction: 160,
    window: 512,
    locked: 5_000,
    pause: 45_000,
    timestamp: 9_000,
    ticks: 2100,
    own: 4_000,
    cluster: 90_000,
    socket: 90_000,
    far: 130_000,
    clean: 30_000,
    memory: 110_000,
    stream: 5_300,
    occupied: 6_000,
    held: 15_000,
    core_lines: mib(2),
    cluster_lines: mib(80),
    system_call: 250_000,
    clock: 25_000,
    wake: 1_000_000,
    awake: 3_000_000,
    switch: 1_200_000,
    slice: 3_000_000_000,
    yielded: 350_000,
    thread: 20_000_000,
    barrier: 2_500_000,
    interrupted: 700_000,
};

/// Two sockets of a Xeon Platinum 8375C (Ice Lake), the costs of `SOCKETSxCORES`.
pub(super) const PLAIN: Costs = Costs {
    instruction: 120,
    window: 352,
    pause: 40_000,
    timestamp: 7_000,
    ticks: 2900,
    cluster: 46_000,
    socket: 46_000,
    far: 102_000,
    clean: 22_000,
    memory: 90_000,
    held: 5_000,
    core_lines: kib(1280),
    cluster_lines: mib(54),
    system_call: 150_000,
    ..XEON_16
};

/// Two sockets of a Xeon E5-2699 v4 (Broadwell); each of its 88 hardware threads counts as a core.
const HASWELL_88: Costs = Costs {
    instruction: 220,
    window: 96,
    locked: 7_000,
    pause: 3_600,
    timestamp: 9_000,
    ticks: 2200,
    own: 4_500,
    cluster: 37_000,
    socket: 37_000,
    far: 111_000,
    clean: 18_000,
    memory: 95_000,
    held: 7_000,
    core_lines: kib(128),
    cluster_lines: mib(55),
    ..XEON_16
};

/// Two sockets of a Xeon Gold 6242 (Cascade Lake).
const XEON_6242: Costs = Costs {
    instruction: 130,
    window: 224,
    pause: 40_000,
    timestamp: 7_000,
    ticks: 2800,
    cluster: 42_000,
    socket: 42_000,
    far: 136_000,
    clean: 20_000,
    memory: 90_000,
    held: 5_000,
    core_lines: mib(1),
    cluster_lines: mib(22),
    system_call: 150_000,
    ..XEON_16
};

/// Two sockets of an EPYC 7742 (Zen 2), in clusters of four cores.
const EPYC_7742: Costs = Costs {
    instruction: 135,
    window: 224,
    pause: 19_000,
    timestamp: 11_000,
    ticks: 2250,
    cluster: 20_000,
    socket: 127_000,
    far: 261_000,
    clean: 20_000,
    memory: 125_000,
    stream: 3_400,
    held: 5_000,
    core_lines: kib(512),
    cluster_lines: mib(16),
    system_call: 150_000,
    ..XEON_16
};

/// A Xeon Phi 7250 (Knights Landing): 34 tiles of two cores, which share a cache of the second level.
const KNL_68: Costs = Costs {
    instruction: 800,
    window: 72,
    locked: 16_000,
    pause: 18_000,
    timestamp: 20_000,
    ticks: 1400,
    own: 13_000,
    cluster: 25_000,
    socket: 75_000,
    far: 75_000,
    clean: 13_000,
    memory: 150_000,
    stream: 8_000,
    held: 16_000,
    core_lines: kib(512),
    cluster_lines: mib(1),
    system_call: 1_000_000,
    clock: 100_000,
    wake: 4_000_000,
    awake: 12_000_000,
    switch: 4_800_000,
    yielded: 1_400_000,
    thread: 80_000_000,
    barrier: 10_000_000,
    interrupted: 2_800_000,
    ..XEON_16
};

/// Two cores of an EPYC of the fourth generation (Zen 4), a virtual machine.
const HERE_2: Costs = Costs {
    instruction: 100,
    window: 320,
    locked: 2_000,
    pause: 24_400,
    timestamp: 9_500,
    ticks: 2596,
    own: 5_000,
    cluster: 22_500,
    socket: 22_500,
    far: 22_500,
    clean: 22_500,
    memory: 150_000,
    stream: 3_400,
    occupied: 4_000,
    held: 4_000,
    core_lines: mib(1),
    cluster_lines: mib(4),
    system_call: 164_000,
    clock: 22_000,
    wake: 9_000_000,
    awake: 19_000_000,
    switch: 1_100_000,
    slice: 1_500_000_000,
    yielded: 485_000,
    thread: 9_700_000,
    barrier: 10_900_000,
    interrupted: 3_800_000,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::costs::{Measure, ROWS};

    #[test]
    fn farther_costs_more() {
        for (name, ..) in KNOWN {
            let Costs { own, cluster, socket, far, clean, memory, .. } = machine(name).expect(name).costs;
            assert!(own <= clean && clean <= cluster && cluster <= socket && socket <= far, "{name}");
            assert!(clean < memory, "{name}");
        }
    }

    #[test]
    fn the_document_has_the_figures() {
        let heads = names().map(|name| format!(" `{name}` |"));
        let mut table = format!("| cost | what it is | unit |{}\n", heads.collect::<String>());
        table += &format!("|---|---|---|{}\n", "---:|".repeat(KNOWN.len()));
        for row in ROWS {
            let meaning = row.meaning.trim().trim_end_matches('.');
            let unit = match row.measure {
                Measure::Nanoseconds => "ns",
                Measure::Ticks => "per µs",
                Measure::Lines => "lines",
                Measure::Instructions => "instructions",
            };
            let figures = KNOWN.iter().map(|(.., costs)| format!(" {} |", row.written(costs)));
            table += &format!("| `{}` | {meaning} | {unit} |{}\n", row.name, figures.collect::<String>());
        }
        let document = include_str!("../../../../docs/lab-machines.md");
        let (begin, end) = ("<!-- costs: begin -->\n", "<!-- costs: end -->");
        let part = document.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).expect("marks").0;
        assert!(part == table, "between the marks of docs/lab-machines.md should be\n{table}");
    }
}
