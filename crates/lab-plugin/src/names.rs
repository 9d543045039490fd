//! LineNames of cache lines. Memory that processes share has one name in all of them: the object's number
//! and the place in it.

use heddle_lab::shared::SharedLab;
use heddle_lab::thread::LineNames;
use std::fs;

/// A shared mapping.
#[derive(Clone, Copy, Debug)]
struct Range {
    from: u64,
    to: u64,
    /// The name of its first line.
    first: u64,
}

/// The mappings of this process.
#[derive(Debug)]
pub(crate) struct Mappings {
    lab: *mut SharedLab,
    /// The process's number, in the names of what is its own.
    process: u64,
    ranges: Vec<Range>,
    stale: bool,
}

/// Marks names of shared lines; then 15 bits for the object, 48 for the line.
const SHARED: u64 = 1 << 63;

impl Mappings {
    pub(crate) fn new(lab: *mut SharedLab, process: u32) -> Self {
        Self { lab, process: u64::from(process) + 1, ranges: Vec::new(), stale: true }
    }

    /// The process has mapped or unmapped something.
    pub(crate) fn forget(&mut self) {
        self.stale = true;
    }

    /// True if the `bytes` at `address` overlap a shared range.
    pub(crate) fn touches(&self, address: u64, bytes: u64) -> bool {
        self.ranges.iter().any(|range| address < range.to && range.from < address.saturating_add(bytes))
    }

    #[cold]
    fn read(&mut self) {
        self.stale = false;
        self.ranges.clear();
        let text = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        for line in text.lines() {
            if let Some(range) = self.range(line) {
                self.ranges.push(range);
            }
        }
    }

    /// Of a line such as `7f00-7f10 rw-s 00000000 00:01 1024 /dev/shm/x`.
    fn range(&self, line: &str) -> Option<Range> {
        let mut fields = line.split_ascii_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let is_shared = fields.next()?.ends_with('s');
        let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
        let (major, minor) = fields.next()?.split_once(':')?;
        let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
        let device = libc::makedev(hexadecimal(major)? as u32, hexadecimal(minor)? as u32);
        let inode: u64 = fields.next()?.parse().ok()?;
        if !is_shared || inode == 0 {
            return None;
        }
        // SAFETY: a thread that names a line holds the token.
        let object = unsafe { (*self.lab).object(device, inode) }?;
        let first = SHARED | object << 48 | offset >> 6;
        Some(Range { from: hexadecimal(from)?, to: hexadecimal(to)?, first })
    }
}

impl LineNames for Mappings {
    fn name(&mut self, address: u64) -> u64 {
        if self.stale {
            self.read();
        }
        let place = self.ranges.partition_point(|range| range.to <= address);
        match self.ranges.get(place) {
            Some(range) if range.from <= address => range.first + ((address - range.from) >> 6),
            _ => self.process << 48 | address >> 6,
        }
    }
}
