//! A list of cores, by the kernel's numbers.

use heddle_platform::background::MOST_CORES;
use std::fmt;

/// The cores on which threads run: the first thread on the first core, and so on, starting again after the
/// last core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cores {
    /// Core numbers of the kernel; empty: any core.
    list: Vec<usize>,
}

/// The word for an empty list.
const ANY: &str = "any";

impl Cores {
    /// Reads `any`, or a list such as `0,2-3`.
    ///
    /// # Errors
    /// A sentence that says which values are allowed.
    pub fn parse(text: &str) -> Result<Cores, String> {
        if text == ANY {
            return Ok(Cores::default());
        }
        let mut list = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (core(first), core(last)) {
                (Some(first), Some(last)) if first <= last => list.extend(first..=last),
                _ => return Err(format!("{} is wanted", Cores::allowed())),
            }
        }
        Ok(Cores { list })
    }

    /// The allowed values, in words.
    pub fn allowed() -> String {
        format!("\"{ANY}\", or a list of cores by their numbers from 0 to {}, such as 0,2-3", MOST_CORES - 1)
    }

    /// The core of the thread with this number; `None`: any core.
    pub fn of_thread(&self, thread: usize) -> Option<usize> {
        (!self.list.is_empty()).then(|| self.list[thread % self.list.len()])
    }
}

impl From<Vec<usize>> for Cores {
    fn from(list: Vec<usize>) -> Cores {
        Cores { list }
    }
}

fn core(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&core| digits && core < MOST_CORES)
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list.is_empty() {
            return f.write_str(ANY);
        }
        for (index, run) in self.list.chunk_by(|one, next| one + 1 == *next).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match run {
                [core] => write!(f, "{comma}{core}")?,
                _ => write!(f, "{comma}{}-{}", run[0], run[run.len() - 1])?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_written() {
        for text in ["any", "0", "0,2-3", "5,4,1-3,1-2", "1023"] {
            assert_eq!(Cores::parse(text).map(|cores| cores.to_string()), Ok(text.to_owned()));
        }
        for wrong in ["", ",", "0,", "-1", "1-", "3-2", "+1", "0x1", "1024", "0 2", "core"] {
            let why = Cores::parse(wrong).expect_err("not a list");
            assert!(why.contains("0,2-3"), "{wrong}: {why}");
        }
    }

    #[test]
    fn threads_go_round_the_list() {
        let cores = Cores::parse("4,6-7").expect("a list");
        let of: Vec<_> = (0..5).map(|thread| cores.of_thread(thread)).collect();
        assert_eq!(of, [4, 6, 7, 4, 6].map(Some));
        assert_eq!(Cores::default().of_thread(3), None);
    }
}
