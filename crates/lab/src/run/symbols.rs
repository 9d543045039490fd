//! Names for addresses of a process: function and line, by the tool `addr2line`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A part of a file that a process has mapped.
#[derive(Clone, Debug)]
struct Part {
    from: u64,
    to: u64,
    offset: u64,
    file: String,
}

/// What a process had mapped when it ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Maps {
    parts: Vec<Part>,
}

impl Maps {
    /// Of the text of `/proc/PID/maps`.
    pub(super) fn read(text: &str) -> Self {
        let part = |line: &str| {
            let mut fields = line.split_ascii_whitespace();
            let (from, to) = fields.next()?.split_once('-')?;
            let offset = fields.nth(1)?;
            let file = fields.nth(2).unwrap_or("").to_owned();
            let number = |text| u64::from_str_radix(text, 16).ok();
            Some(Part { from: number(from)?, to: number(to)?, offset: number(offset)?, file })
        };
        Self { parts: text.lines().filter_map(part).collect() }
    }

    /// The file at `address`, and the place in it.
    fn place(&self, address: u64) -> Option<(&str, u64)> {
        let part = self.parts.iter().find(|part| (part.from..part.to).contains(&address))?;
        Some((&part.file, address - part.from + part.offset))
    }

    /// The address as the file's symbols have it: as far from where the file begins in memory.
    fn in_file(&self, address: u64) -> Option<(&str, u64)> {
        let (file, _) = self.place(address).filter(|(file, _)| file.starts_with('/'))?;
        let begins =
            self.parts.iter().filter(|part| part.file == file).map(|part| part.from - part.offset).min()?;
        Some((file, address - begins))
    }

    /// Data at `address`, in words: the file's name and the place in it.
    pub(super) fn data(&self, address: u64) -> String {
        match self.place(address) {
            Some((file, offset)) if !file.is_empty() => {
                let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
                format!("{name}+{offset:#x}")
            }
            _ => format!("memory of its own, {address:#x}"),
        }
    }

    /// What stands at each of `addresses`: the function, then the file and line of the source.
    pub(super) fn code(&self, addresses: &[u64]) -> HashMap<u64, (String, String)> {
        let mut by_file: HashMap<&str, Vec<(u64, u64)>> = HashMap::new();
        let mut found = HashMap::new();
        for address in addresses {
            match self.in_file(*address) {
                Some((file, place)) => by_file.entry(file).or_default().push((*address, place)),
                None => _ = found.insert(*address, (format!("{address:#x}"), String::new())),
            }
        }
        for (file, places) in by_file {
            let names = ask(Path::new(file), places.iter().map(|(_, place)| *place));
            for (index, (address, place)) in places.iter().enumerate() {
                let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
                let unknown = || (format!("{name}+{place:#x}"), String::new());
                found.insert(*address, names.get(index).cloned().flatten().unwrap_or_else(unknown));
            }
        }
        found
    }
}

/// What `addr2line` says of `places` in `file`; nothing where it is not there.
fn ask(file: &Path, places: impl Iterator<Item = u64>) -> Vec<Option<(String, String)>> {
    let mut command = Command::new("addr2line");
    command.args(["-a", "-C", "-f", "-i", "-e"]).arg(file).args(places.map(|place| format!("{place:#x}")));
    let Ok(said) = command.output() else { return Vec::new() };
    answers(&String::from_utf8_lossy(&said.stdout))
}

/// Of what it says: for each address, a line that begins with 0x, there is a function and a source, and the
/// same of each function into which that was inlined.
fn answers(text: &str) -> Vec<Option<(String, String)>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        match (line.starts_with("0x"), found.last_mut()) {
            (true, _) => found.push(Vec::new()),
            (false, Some(lines)) => lines.push(line),
            (false, None) => {}
        }
    }
    found.iter().map(|lines| named(lines)).collect()
}

/// The innermost function, the outermost behind it, and the innermost source that is not the standard
/// library's.
fn named(lines: &[&str]) -> Option<(String, String)> {
    let pairs: Vec<(&str, &str)> =
        lines.chunks(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect();
    let (first, last) = (pairs.first()?, pairs.last()?);
    if first.0 == "??" {
        return None;
    }
    let own = pairs.iter().find(|(_, source)| !source.starts_with("/rustc/")).unwrap_or(first);
    let mut function = short(own.0);
    if own.0 != last.0 {
        function = format!("{function} in {}", short(last.0));
    }
    Some((function, short_source(own.1)))
}

/// A function without what stands in angle brackets, and without the hash behind it.
fn short(function: &str) -> String {
    let mut depth = 0_usize;
    let mut text = String::new();
    for letter in function.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(letter),
            _ => {}
        }
    }
    text.replace("::::", "::").trim_start_matches("::").to_owned()
}

/// The last two names of a source's path, and its line.
fn short_source(source: &str) -> String {
    let source = source.split(' ').next().unwrap_or(source);
    let path = PathBuf::from(source);
    let names: Vec<_> = path.iter().rev().take(3).collect();
    names.into_iter().rev().collect::<PathBuf>().display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 r--p 00000000 00:01 7 /lib/a.so
2000-4000 r-xp 00001000 00:01 7 /lib/a.so
5000-6000 rw-s 00003000 00:01 9 /memfd:heddle (deleted)
7000-8000 rw-p 00000000 00:00 0
";

    #[test]
    fn an_address_is_found_in_its_file() {
        let maps = Maps::read(MAPS);
        assert_eq!(maps.in_file(0x2010), Some(("/lib/a.so", 0x1010)));
        assert_eq!(maps.in_file(0x7010), None);
        assert_eq!(maps.data(0x5010), "memfd:heddle+0x3010");
        assert_eq!(maps.data(0x7010), "memory of its own, 0x7010");
    }

    #[test]
    fn inlined_functions_have_the_one_around_them() {
        let text = "0x0000000000000010\nload\n/rustc/1/library/core/src/sync/atomic.rs:3\ntry_acquire\n\
            /x/crates/sync/src/mutex.rs:7\nheddle::enter<T>\n/x/crates/model/src/lock.rs:9 (discriminator 2)\n\
            0x0000000000000020\n??\n??:0\n";
        let found = answers(text);
        assert_eq!(found[0], Some(("try_acquire in heddle::enter".into(), "sync/src/mutex.rs:7".into())));
        assert_eq!(found[1], None);
    }

    #[test]
    fn names_are_short() {
        assert_eq!(short("heddle_sync::Mutex<T>::acquire<F>"), "heddle_sync::Mutex::acquire");
        assert_eq!(
            short_source("/a/b/crates/sync/src/mutex.rs:12 (discriminator 3)"),
            "sync/src/mutex.rs:12"
        );
    }
}
