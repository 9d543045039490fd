//! Values of options in the words of Slurm's `srun`.

use std::ffi::OsString;
use std::time::Duration;

/// What [`time`] reads.
pub(crate) const TIMES: &str = "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or days-hours:minutes:seconds";
/// What [`exported`] reads.
pub(crate) const EXPORTS: &str =
    "ALL, NONE or names of variables, separated by commas, each perhaps with =VALUE";

/// A time limit above 0.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u32>().ok()?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> =
        rest.split(':').map(|part| part.parse::<u32>().map(u64::from).ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (Some(_), &[hours]) => (hours, 0, 0),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        (None, &[minutes]) => (0, minutes, 0),
        (None, &[minutes, seconds]) => (0, minutes, seconds),
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        _ => return None,
    };
    let hours = u64::from(days.unwrap_or(0)) * 24 + hours;
    let limit = (hours * 60 + minutes) * 60 + seconds;
    (1..1 << 31).contains(&limit).then(|| Duration::from_secs(limit))
}

/// The environment that `--export` leaves.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exported {
    /// The variables that are inherited, if not all.
    pub(crate) inherited: Option<Vec<OsString>>,
    /// Those that get a value.
    pub(crate) set: Vec<(OsString, OsString)>,
}

/// Reads the value of `--export`.
pub(crate) fn exported(text: &str) -> Option<Exported> {
    let (mut names, mut set, mut is_all) = (Vec::new(), Vec::new(), false);
    for word in text.split(',') {
        match word.split_once('=') {
            Some(("", _)) => return None,
            Some((name, value)) => set.push((name.into(), value.into())),
            None if word.is_empty() => return None,
            None => match word {
                "ALL" => is_all = true,
                "NONE" | "NIL" => {}
                name => names.push(OsString::from(name)),
            },
        }
    }
    Some(Exported { inherited: (!is_all).then_some(names), set })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds) in [
            ("5", 300),
            ("1:30", 90),
            ("2:00:05", 7205),
            ("1-2", 26 * 3600),
            ("1-2:3", 26 * 3600 + 180),
            ("1-0:0:1", 86401),
        ] {
            assert_eq!(time(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "0", "x", "1:2:3:4", "-5", "1-", "1.5", "99999-0"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn exports() {
        let names = |names: &[&str]| Some(names.iter().map(OsString::from).collect::<Vec<_>>());
        for (text, inherited, set) in [
            ("ALL", None, 0),
            ("NONE", names(&[]), 0),
            ("ALL,A=1", None, 1),
            ("A,B", names(&["A", "B"]), 0),
            ("A,B=", names(&["A"]), 1),
        ] {
            let exported = exported(text).expect(text);
            assert_eq!((exported.inherited, exported.set.len()), (inherited, set), "{text}");
        }
        for wrong in ["", "A,,B", "=1"] {
            assert_eq!(exported(wrong), None, "{wrong}");
        }
    }
}
