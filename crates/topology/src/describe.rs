//! A topology written down: `2 packages x 4 l3 x 8 cores x 2 threads`.

use crate::build::{self, Groups};
use crate::{Error, NodeKind, Topology};
use std::fmt;
use std::str::FromStr;

/// From the outermost inwards, each part a number and a kind (`package`, `numa`, `l3`, `core`, `thread`, with
/// or without an s), each kind at most once, `x` between the parts; without threads each innermost part has
/// one. Hardware threads are numbered in order from 0.
impl FromStr for Topology {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts: Vec<(NodeKind, usize)> = Vec::new();
        for part in text.split([',', '×', 'x']) {
            let known = parts.last().is_none_or(|(kind, _)| *kind != NodeKind::HardwareThread);
            match parse_part(part) {
                Some((kind, count)) if known && parts.iter().all(|(other, _)| *other != kind) => {
                    parts.push((kind, count));
                }
                _ => return Err(Error::Description { text: text.to_owned(), at: part.trim().to_owned() }),
            }
        }
        let too_many = || {
            let at = format!("more than {MOST_THREADS} hardware threads");
            Error::Description { text: text.to_owned(), at }
        };
        let threads = parts.iter().try_fold(1_usize, |product, (_, count)| product.checked_mul(*count));
        let threads = threads.filter(|threads| *threads <= MOST_THREADS).ok_or_else(too_many)?;
        Ok(build::tree((0..threads).map(|number| (number, groups(&parts, threads, number)))))
    }
}

/// More than any machine has; a slip of the pen should not fill the memory.
const MOST_THREADS: usize = 1 << 16;

fn parse_part(part: &str) -> Option<(NodeKind, usize)> {
    let (count, kind) = part.trim().split_once(char::is_whitespace)?;
    let count = count.parse().ok().filter(|count| *count > 0)?;
    let kind = kind.trim().to_ascii_lowercase();
    let kind = match kind.strip_suffix('s').unwrap_or(&kind) {
        "package" | "socket" => NodeKind::Package,
        "numa" | "numa node" => NodeKind::Numa,
        "l3" => NodeKind::L3,
        "core" => NodeKind::Core,
        "thread" | "hardware thread" => NodeKind::HardwareThread,
        _ => return None,
    };
    Some((kind, count))
}

fn groups(parts: &[(NodeKind, usize)], threads: usize, number: usize) -> Groups {
    let mut groups = Groups::default();
    let mut width = threads;
    for (kind, count) in parts {
        width /= count;
        groups.set(*kind, number / width);
    }
    groups
}

/// The written form if the machine is regular; otherwise how many hardware threads it has.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut level = vec![self.root()];
        let mut parts = Vec::new();
        loop {
            let counts: Vec<usize> = level.iter().map(|node| node.children().count()).collect();
            let children: Vec<_> = level.iter().flat_map(|node| node.children()).collect();
            let Some(first) = children.first() else { break };
            let is_regular = counts.iter().all(|count| *count == counts[0])
                && children.iter().all(|child| child.kind() == first.kind());
            if !is_regular {
                return write!(f, "{} hardware threads, irregular", self.hardware_threads().count());
            }
            parts.push(plural(counts[0], first.kind()));
            level = children;
        }
        if parts.is_empty() {
            parts.push(plural(1, NodeKind::HardwareThread));
        }
        f.write_str(&parts.join(" x "))
    }
}

fn plural(count: usize, kind: NodeKind) -> String {
    let end = if count == 1 || kind == NodeKind::L3 { "" } else { "s" };
    format!("{count} {kind}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_come_back() {
        for (text, back) in [
            ("2 packages x 4 l3 x 8 cores x 2 threads", "2 packages x 4 L3 x 8 cores x 2 hardware threads"),
            ("2 numa, 2 cores", "2 NUMA nodes x 2 hardware threads"),
            ("1 package × 1 numa × 1 L3 × 2 cores", "2 hardware threads"),
            ("1 thread", "1 hardware thread"),
        ] {
            let topology: Topology = text.parse().expect(text);
            assert_eq!(topology.to_string(), back);
            assert_eq!(back.parse::<Topology>().expect(back), topology);
        }
    }

    #[test]
    fn nonsense_is_refused_and_named() {
        for text in [
            "",
            "2",
            "2 moons",
            "0 cores",
            "2 cores x 2 cores",
            "2 threads x 2 cores",
            "-1 cores",
            "99999 packages x 99999 cores",
            "18446744073709551615 cores x 3 threads",
        ] {
            let error = text.parse::<Topology>().expect_err(text);
            assert!(error.to_string().contains("for instance"), "{error}");
        }
    }
}
