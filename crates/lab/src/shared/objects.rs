//! Shared objects have numbers: the number is in the names of lines.

use super::SharedLab;
use super::limits::OBJECTS;

impl SharedLab {
    /// The number of the object that the system calls `device` and `inode`: the same in all processes. `None`
    /// when there are too many.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ByHand;

    #[test]
    fn an_object_has_the_number_with_which_it_came_first() {
        let mut lab = ByHand::new(1, 1, 1);
        assert_eq!(lab.object(7, 100), Some(0));
        assert_eq!(lab.object(7, 101), Some(1));
        assert_eq!(lab.object(8, 100), Some(2));
        assert_eq!(lab.object(7, 101), Some(1));
        assert_eq!(lab.object(7, 100), Some(0));
    }

    #[test]
    fn when_there_are_too_many_those_known_keep_their_numbers() {
        let mut lab = ByHand::new(1, 1, 1);
        for index in 0..OBJECTS as u64 {
            assert_eq!(lab.object(1, index), Some(index));
        }
        assert_eq!(lab.object(1, OBJECTS as u64), None);
        assert_eq!(lab.object(1, OBJECTS as u64 - 1), Some(OBJECTS as u64 - 1));
    }
}
