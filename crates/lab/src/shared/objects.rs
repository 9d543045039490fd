//! What processes share, numbered: the number is in the names of lines.

use super::SharedLab;

/// The most objects that processes share.
pub(super) const OBJECTS: usize = 4096;

impl SharedLab {
    /// The number of the object that the system calls `device` and `inode`: the same in all processes. `None` when there are too many.
    pub fn object(&mut self, device: u64, inode: u64) -> Option<u64> {
        let used = self.objects_used as usize;
        let found = self.objects[..used].iter().position(|object| *object == (device, inode));
        if found.is_none() && used == OBJECTS {
            return None;
        }
        let index = found.unwrap_or(used);
        if index == used {
            self.objects[used] = (device, inode);
            self.objects_used += 1;
        }
        Some(index as u64)
    }
}
