//! Array sections with gaps: blocks of bytes in regular steps.

use crate::abi::Dimension;
use crate::descriptor::Descriptor;

/// Where the bytes of a section are.
pub(crate) struct Section {
    address: *mut u8,
    /// The bytes of a block.
    pub(crate) block: isize,
    /// The number of blocks, and the bytes between them, by dimension; the first one varies fastest.
    pub(crate) dimensions: Vec<Dimension>,
}

// SAFETY: it is the program's memory, which the program leaves to MPI until an operation is complete.
unsafe impl Send for Section {}

impl Section {
    /// The section that a descriptor tells of, with neighbouring elements and dimensions as one.
    pub(crate) fn of(descriptor: &Descriptor) -> Section {
        let mut block = descriptor.element_bytes();
        let mut dimensions: Vec<Dimension> = Vec::new();
        for dimension in descriptor.dimensions().filter(|dimension| dimension.extent != 1) {
            match dimensions.last_mut() {
                None if dimension.stride == block => block *= dimension.extent,
                Some(last) if dimension.stride == last.stride * last.extent => {
                    last.extent *= dimension.extent
                }
                _ => dimensions.push(dimension),
            }
        }
        Section { address: descriptor.address.cast(), block, dimensions }
    }

    /// The number of its bytes.
    pub(crate) fn bytes(&self) -> isize {
        self.dimensions.iter().map(|dimension| dimension.extent).product::<isize>() * self.block
    }

    /// Hands over the address of each block in turn.
    fn each_block(&self, mut block: impl FnMut(*mut u8)) {
        let mut positions = vec![0; self.dimensions.len()];
        let mut at = self.address;
        if self.bytes() == 0 {
            return;
        }
        loop {
            block(at);
            // The next one: a dimension at its end begins again, and the one behind it goes on.
            let mut next = positions.iter_mut().zip(&self.dimensions);
            let went_on = next.any(|(position, dimension)| {
                *position += 1;
                at = at.wrapping_offset(dimension.stride);
                let goes_on = *position < dimension.extent;
                if !goes_on {
                    at = at.wrapping_offset(-dimension.stride * dimension.extent);
                    *position = 0;
                }
                goes_on
            });
            if !went_on {
                return;
            }
        }
    }

    /// Copies the section's bytes to `to`, which has room for them.
    pub(crate) fn read(&self, to: &mut [u8]) {
        let block = self.block.unsigned_abs();
        let mut parts = to.chunks_exact_mut(block.max(1));
        self.each_block(|from| {
            let part = parts.next().expect("there is room for the section");
            // SAFETY: the block belongs to the array of the program, and `part` is as long.
            unsafe { from.copy_to_nonoverlapping(part.as_mut_ptr(), block) };
        });
    }

    /// Copies `from`, which has the section's bytes, to the section.
    pub(crate) fn write(&self, from: &[u8]) {
        let block = self.block.unsigned_abs();
        let mut parts = from.chunks_exact(block.max(1));
        self.each_block(|to| {
            let part = parts.next().expect("there is a part for each block");
            // SAFETY: the block belongs to the array of the program, and `part` is as long.
            unsafe { to.copy_from_nonoverlapping(part.as_ptr(), block) };
        });
    }
}
