//! Files for the ranks' output, and the ranks that read the launcher's input.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::output::{Labels, NamedFile};
use crate::placement::Allowed;

/// The ranks that read the launcher's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputTo {
    /// This rank.
    Rank(u32),
    /// Every rank, each all of it.
    All,
    /// Nobody.
    Nobody,
}

impl Default for InputTo {
    fn default() -> Self {
        Self::Rank(0)
    }
}

impl InputTo {
    /// Reads the value of an option.
    pub(crate) fn read(text: &str) -> Result<Self, Allowed> {
        match text {
            "all" => Ok(Self::All),
            "none" => Ok(Self::Nobody),
            rank => rank.parse().map(Self::Rank).map_err(|_| Allowed("a rank, all or none")),
        }
    }
}

/// Files for the ranks' output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// Patterns for standard output and standard error.
    pub(crate) patterns: [Option<String>; 2],
    /// A folder with a folder for each rank, as an option names it.
    pub(crate) folder: Option<String>,
    /// The launcher passes the output on as well.
    pub(crate) copies: bool,
    /// Standard error goes where standard output goes.
    pub(crate) merges: bool,
}

impl Redirect {
    pub(crate) fn out_pattern(&mut self, pattern: &str) {
        self.patterns[0] = Some(pattern.to_owned());
    }

    pub(crate) fn err_pattern(&mut self, pattern: &str) {
        self.patterns[1] = Some(pattern.to_owned());
    }

    /// A folder with a folder for each rank, with Open MPI's modifiers.
    pub(crate) fn folder(&mut self, value: &str) {
        let folder = self.without_modifiers(value);
        self.patterns = ["stdout", "stderr"].map(|name| Some(format!("{}/rank.%r/{name}", as_is(&folder))));
        self.folder = Some(folder);
    }

    /// A file for each stream of each rank, with Open MPI's modifiers.
    fn file(&mut self, value: &str) {
        let file = as_is(&self.without_modifiers(value));
        self.patterns = ["out", "err"].map(|stream| Some(format!("{file}.rank.%r.{stream}")));
        self.folder = None;
    }

    /// A name without Open MPI's modifiers, of which one says that nothing is passed on.
    fn without_modifiers(&mut self, value: &str) -> String {
        let mut words = value.split(':');
        let name = words.next().unwrap_or_default().to_owned();
        self.copies = !words.any(|modifier| modifier.eq_ignore_ascii_case("nocopy"));
        name
    }

    /// Open MPI 5's list.
    pub(crate) fn output(&mut self, list: &str, labels: &mut Labels) -> Result<(), Allowed> {
        for word in list.split(',') {
            let (word, value) = word.split_once('=').unwrap_or((word, ""));
            match (word, value) {
                ("tag" | "rank" | "tag-detailed" | "tag-fullname", "") => labels.rank = true,
                ("timestamp", "") => labels.time = true,
                ("merge" | "merge-stderr-to-stdout", "") => self.merges = true,
                ("raw" | "nocopy", "") => {}
                ("dir" | "directory", folder) if !folder.is_empty() => self.folder(folder),
                ("file" | "filename", file) if !file.is_empty() => self.file(file),
                _ => return Err(Allowed("tag, timestamp, merge, dir=DIR, file=NAME, separated by commas")),
            }
        }
        Ok(())
    }

    /// The files of a rank that are to be made, for standard output and standard error.
    pub(crate) fn files(&self, rank: u32) -> Result<[Option<NamedFile>; 2], (PathBuf, io::Error)> {
        let out = &self.patterns[0];
        let err = if self.merges { &None } else { &self.patterns[1] };
        let open = |pattern: &Option<String>| {
            let path = pattern.as_ref().map(|pattern| PathBuf::from(file_name(pattern, rank)));
            path.map_or(Ok(None), |path| match create(&path) {
                Ok(file) => Ok(Some((path, file))),
                Err(error) => Err((path, error)),
            })
        };
        let same = out.is_some() && out == err;
        let out = open(out)?;
        let err = match (&out, same) {
            (Some((path, file)), true) => match file.try_clone() {
                Ok(file) => Some((path.clone(), file)),
                Err(error) => return Err((path.clone(), error)),
            },
            _ => open(err)?,
        };
        Ok([out, err])
    }
}

/// A name as a pattern.
fn as_is(name: &str) -> String {
    name.replace('%', "%%")
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    File::create(path)
}

/// A pattern with what its letters stand for, which are those of Hydra. The job is one group of processes
/// under one launcher, which has the number 0 there.
fn file_name(pattern: &str, rank: u32) -> String {
    let mut name = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        match letters.next() {
            Some('r') => name.push_str(&rank.to_string()),
            Some('g' | 'p') => name.push('0'),
            Some('t') => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                name.push_str(&now.as_secs().to_string());
            }
            Some('h') => name.push_str(&heddle_bootstrap::host()),
            Some('%') => name.push('%'),
            Some(other) => name.extend(['%', other]),
            None => name.push('%'),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert_eq!(file_name("out.%r", 12), "out.12");
        assert_eq!(file_name("%%r-%q-%", 1), "%r-%q-%");
        assert_eq!(file_name("%g-%p-%h", 7), format!("0-0-{}", heddle_bootstrap::host()));
        assert!(file_name("%t", 7).parse::<u64>().is_ok_and(|seconds| seconds > 1 << 30));
        let mut redirect = Redirect::default();
        redirect.folder("a%b");
        assert!(redirect.copies);
        redirect.folder("a%b:nocopy");
        assert!(!redirect.copies);
        assert_eq!(file_name(redirect.patterns[1].as_deref().expect("a pattern"), 3), "a%b/rank.3/stderr");
    }

    #[test]
    fn the_list_of_open_mpi_5() {
        let mut redirect = Redirect::default();
        let mut labels = Labels::default();
        redirect.output("tag,timestamp,merge", &mut labels).expect("words");
        assert!(labels.rank && labels.time && redirect.merges && redirect.patterns == [None, None]);
        redirect.output("file=x", &mut labels).expect("a file");
        assert_eq!(file_name(redirect.patterns[0].as_deref().expect("a pattern"), 3), "x.rank.3.out");
        for wrong in ["", "tags", "dir=", "dir", "tag=1"] {
            assert!(redirect.output(wrong, &mut labels).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_file_for_both_streams() {
        let folder = tempfile::tempdir().expect("a folder");
        let pattern = folder.path().join("deep/er/%r").display().to_string();
        let mut redirect = Redirect::default();
        redirect.out_pattern(&pattern);
        redirect.err_pattern(&pattern);
        assert!(redirect.files(5).expect("files").iter().all(Option::is_some));
        assert!(folder.path().join("deep/er/5").is_file());
        redirect.out_pattern(&format!("{pattern}/below"));
        assert!(redirect.files(5).is_err(), "a file is no folder");
    }
}
