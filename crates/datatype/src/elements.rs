//! Counting basic elements in received bytes, for `MPI_Get_elements`.

use crate::datatype::{Datatype, Elements, TypeRef};
use heddle_platform::allocate::{OutOfMemory, collected};

impl Elements {
    /// The elements of copies of `child`.
    pub(crate) fn copies(child: &TypeRef) -> Self {
        match &child.elements {
            Self::None => Self::None,
            Self::Uniform { size } => Self::Uniform { size: *size },
            Self::Pair { first, second } => Self::Pair { first: *first, second: *second },
            Self::Copies(inner) => Self::Copies(inner.clone()),
            Self::Sequence(_) => Self::Copies(child.clone()),
        }
    }

    /// The elements of a structure's fields: the number and the type of each.
    pub(crate) fn sequence(lengths: &[i64], types: &[TypeRef]) -> Result<Self, OutOfMemory> {
        let fields = lengths.iter().zip(types).filter(|(length, child)| **length * child.size() > 0);
        let mut sizes = fields.clone().map(|(_, child)| match child.elements {
            Self::Uniform { size } => Some(size),
            _ => None,
        });
        let Some(first) = sizes.next() else { return Ok(Self::None) };
        match first {
            Some(size) if sizes.all(|other| other == first) => Ok(Self::Uniform { size }),
            _ => collected(fields.map(|(length, child)| (*length, child.clone()))).map(Self::Sequence),
        }
    }
}

impl Datatype {
    /// Basic elements in `bytes` received bytes (`MPI_Get_elements`); nothing stands for `MPI_UNDEFINED`.
    #[must_use]
    pub fn get_elements(&self, bytes: i64) -> Option<i64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let whole = (bytes / self.size).checked_mul(self.basic_elements)?;
        match bytes % self.size {
            0 => Some(whole),
            rest => whole.checked_add(elements_in_part(&self.elements, rest)?),
        }
    }
}

/// Elements in the first `bytes` bytes, which are less than one whole copy; nothing if the bytes end within
/// an element.
fn elements_in_part(elements: &Elements, bytes: i64) -> Option<i64> {
    let (mut elements, mut bytes, mut found) = (elements, bytes, 0_i64);
    // Each turn goes one type deeper, into the copy in which the bytes end.
    loop {
        match elements {
            Elements::None => return (bytes == 0).then_some(found),
            Elements::Uniform { size } => return (bytes % size == 0).then_some(found + bytes / size),
            Elements::Pair { first, second } => {
                let pairs = bytes / (first + second);
                return match bytes % (first + second) {
                    0 => Some(found + 2 * pairs),
                    rest if rest == *first => Some(found + 2 * pairs + 1),
                    _ => None,
                };
            }
            Elements::Copies(child) => {
                found += bytes / child.size() * child.basic_elements();
                bytes %= child.size();
                elements = &child.elements;
            }
            Elements::Sequence(fields) => {
                let mut inside = None;
                for (length, child) in fields {
                    let field = length * child.size();
                    if bytes < field {
                        inside = Some(child);
                        break;
                    }
                    bytes -= field;
                    found += length * child.basic_elements();
                }
                let Some(child) = inside else { return (bytes == 0).then_some(found) };
                found += bytes / child.size() * child.basic_elements();
                bytes %= child.size();
                elements = &child.elements;
            }
        }
        if bytes == 0 {
            return Some(found);
        }
    }
}
