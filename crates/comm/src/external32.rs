//! The canonical data representation "external32": big-endian, with sizes that the standard fixes (MPI 5.0,
//! section 14.5.2). Data is packed natively first, and then converted by the sequence of basic types in it.

use crate::error::Result;
use heddle_datatype::{Basic, BasicKind, Combiner, Datatype};
use heddle_message::buffer::zeroed;
use heddle_spec::constants as mpi;

/// How one undivided part of a basic type is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    /// This number of bytes, in reverse order.
    Swapped(usize),
    /// A signed integer of 8 bytes here and 4 bytes in the representation.
    Long,
    /// An unsigned integer of 8 bytes here and 4 bytes in the representation.
    UnsignedLong,
    /// A character of 4 bytes here and 2 bytes in the representation.
    WideCharacter,
    /// The platform's `long double`, as IEEE binary128.
    LongDouble,
}

/// The parts of a basic type: one or two.
fn scalars(basic: &Basic) -> (Scalar, Option<Scalar>) {
    use Scalar::{Long, LongDouble, Swapped, UnsignedLong, WideCharacter};
    let twice = |scalar| (scalar, Some(scalar));
    match (basic.handle, basic.kind) {
        (mpi::MPI_LONG, _) => (Long, None),
        (mpi::MPI_UNSIGNED_LONG, _) => (UnsignedLong, None),
        (mpi::MPI_WCHAR, _) => (WideCharacter, None),
        (mpi::MPI_LONG_INT, _) => (Long, Some(Swapped(4))),
        (_, BasicKind::I8 | BasicKind::U8) => (Swapped(1), None),
        (_, BasicKind::I16 | BasicKind::U16 | BasicKind::F16) => (Swapped(2), None),
        (_, BasicKind::I32 | BasicKind::U32 | BasicKind::F32) => (Swapped(4), None),
        (_, BasicKind::I64 | BasicKind::U64 | BasicKind::F64) => (Swapped(8), None),
        (_, BasicKind::I128 | BasicKind::F128) => (Swapped(16), None),
        (_, BasicKind::LongDouble) => (LongDouble, None),
        (_, BasicKind::C16) => twice(Swapped(2)),
        (_, BasicKind::C32 | BasicKind::I32I32 | BasicKind::F32I32 | BasicKind::F32F32) => twice(Swapped(4)),
        (_, BasicKind::C64 | BasicKind::F64F64) => twice(Swapped(8)),
        (_, BasicKind::C128) => twice(Swapped(16)),
        (_, BasicKind::CLongDouble) => twice(LongDouble),
        (_, BasicKind::F64I32 | BasicKind::I64I32) => (Swapped(8), Some(Swapped(4))),
        (_, BasicKind::I16I32) => (Swapped(2), Some(Swapped(4))),
        (_, BasicKind::LongDoubleI32) => (LongDouble, Some(Swapped(4))),
    }
}

impl Scalar {
    fn native_len(self) -> usize {
        match self {
            Scalar::Swapped(len) => len,
            Scalar::Long | Scalar::UnsignedLong => 8,
            Scalar::WideCharacter => 4,
            Scalar::LongDouble => 16,
        }
    }

    fn external_len(self) -> usize {
        match self {
            Scalar::Swapped(len) => len,
            Scalar::Long | Scalar::UnsignedLong => 4,
            Scalar::WideCharacter => 2,
            Scalar::LongDouble => 16,
        }
    }

    fn to_external(self, native: &[u8], external: &mut [u8]) {
        match self {
            Scalar::LongDouble => external.copy_from_slice(&long_double_to_binary128(native).to_be_bytes()),
            _ => {
                // The low-order bytes, most significant first.
                let low_order = if cfg!(target_endian = "little") {
                    &native[..external.len()]
                } else {
                    &native[native.len() - external.len()..]
                };
                external.copy_from_slice(low_order);
                in_other_order(external);
            }
        }
    }

    fn to_native(self, external: &[u8], native: &mut [u8]) {
        match self {
            Scalar::LongDouble => {
                let mut bytes = [0; 16];
                bytes.copy_from_slice(external);
                binary128_to_long_double(u128::from_be_bytes(bytes), native);
            }
            _ => {
                let negative = self == Scalar::Long && external[0] & 0x80 != 0;
                native.fill(if negative { 0xff } else { 0 });
                let start = native.len() - external.len();
                native[start..].copy_from_slice(external);
                in_other_order(native);
            }
        }
    }
}

/// From big-endian to the machine's order, or back.
fn in_other_order(bytes: &mut [u8]) {
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
}

/// Bits of the fraction of binary128 beyond those of the x87 format.
#[cfg(target_arch = "x86_64")]
const EXTRA_BITS: u32 = 49;

/// The x87 format has 64 bits of significand, the first of which is explicit, then 16 of exponent and sign.
#[cfg(target_arch = "x86_64")]
fn long_double_to_binary128(native: &[u8]) -> u128 {
    let word = native.iter().rev().fold(0u128, |word, &byte| word << 8 | u128::from(byte));
    let fraction = word & (u128::from(u64::MAX) >> 1);
    let sign_and_exponent = word >> 64 & 0xffff;
    sign_and_exponent << 112 | fraction << EXTRA_BITS
}

/// Rounds to nearest, ties to even.
#[cfg(target_arch = "x86_64")]
fn binary128_to_long_double(value: u128, native: &mut [u8]) {
    let (sign, exponent) = (value >> 127, value >> 112 & 0x7fff);
    let fraction = value & ((1 << 112) - 1);
    let explicit = u128::from(exponent != 0) << 63;
    let (kept, lost) = (fraction >> EXTRA_BITS, fraction & ((1 << EXTRA_BITS) - 1));
    let half = 1 << (EXTRA_BITS - 1);
    let up = exponent != 0x7fff && (lost > half || lost == half && kept & 1 == 1);
    let mut significand = (explicit | kept) + u128::from(up);
    let mut exponent = exponent;
    if significand >> 64 != 0 {
        significand >>= 1;
        exponent += 1;
    } else if exponent == 0 && significand >> 63 != 0 {
        exponent = 1;
    }
    let word = (sign << 15 | exponent) << 64 | significand;
    native.copy_from_slice(&word.to_le_bytes());
}

/// On other processors `long double` is binary128.
#[cfg(not(target_arch = "x86_64"))]
fn long_double_to_binary128(native: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(native);
    u128::from_ne_bytes(bytes)
}

#[cfg(not(target_arch = "x86_64"))]
fn binary128_to_long_double(value: u128, native: &mut [u8]) {
    native.copy_from_slice(&value.to_ne_bytes());
}

/// Visits the parts of the basic types of one item, in the order of its data.
fn visit(datatype: &Datatype, scalar: &mut impl FnMut(Scalar)) {
    let one = |basic: &Basic, scalar: &mut dyn FnMut(Scalar)| {
        let (first, second) = scalars(basic);
        scalar(first);
        if let Some(second) = second {
            scalar(second);
        }
    };
    if datatype.size() == 0 {
        return;
    }
    if let Some(basic) = datatype.uniform_basic() {
        let size = heddle_datatype::predefined(basic.handle).map_or(datatype.size(), Datatype::size);
        (0..datatype.size() / size).for_each(|_| one(basic, scalar));
        return;
    }
    let contents = datatype.contents();
    for (index, part) in contents.types.iter().enumerate() {
        let copies = match contents.combiner {
            // The number of blocks comes first, then the blocks' lengths.
            Combiner::Struct => contents
                .integers
                .get(1 + index)
                .or_else(|| contents.counts.get(1 + index))
                .copied()
                .unwrap_or(0),
            _ if part.size() == 0 => 0,
            _ => datatype.size() / part.size(),
        };
        (0..copies).for_each(|_| visit(part, scalar));
    }
}

/// Bytes of `count` items; nothing if that exceeds 63 bits or `count` is negative.
pub fn packed_len(datatype: &Datatype, count: i64) -> Option<i64> {
    let mut len = 0i64;
    visit(datatype, &mut |scalar| len += scalar.external_len() as i64);
    if count < 0 { None } else { len.checked_mul(count) }
}

/// Packs `count` items at `from`; `to` has [`packed_len`] bytes.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
///
/// # Safety
/// The same as for [`Datatype::pack`].
pub unsafe fn pack(datatype: &Datatype, from: *const u8, count: i64, to: &mut [u8]) -> Result<()> {
    if to.is_empty() {
        // No data, of any number of items.
        return Ok(());
    }
    let mut native = zeroed(datatype.packed_len(count).unwrap_or(0) as usize)?;
    // SAFETY: the caller promises valid memory for `count` items.
    unsafe { datatype.pack(from, count, 0, &mut native) };
    let (mut native, mut to) = (native.as_slice(), to);
    for _ in 0..count {
        visit(datatype, &mut |scalar| {
            let (source, rest) = native.split_at(scalar.native_len());
            native = rest;
            let (target, rest) = std::mem::take(&mut to).split_at_mut(scalar.external_len());
            to = rest;
            scalar.to_external(source, target);
        });
    }
    Ok(())
}

/// Unpacks `count` items to `to`; `from` has [`packed_len`] bytes.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
///
/// # Safety
/// The same as for [`Datatype::unpack`].
pub unsafe fn unpack(datatype: &Datatype, to: *mut u8, count: i64, from: &[u8]) -> Result<()> {
    if from.is_empty() {
        // No data, of any number of items.
        return Ok(());
    }
    let mut native = zeroed(datatype.packed_len(count).unwrap_or(0) as usize)?;
    let (mut from, mut output) = (from, native.as_mut_slice());
    for _ in 0..count {
        visit(datatype, &mut |scalar| {
            let (source, rest) = from.split_at(scalar.external_len());
            from = rest;
            let (target, rest) = std::mem::take(&mut output).split_at_mut(scalar.native_len());
            output = rest;
            scalar.to_native(source, target);
        });
    }
    // SAFETY: the caller promises valid memory for `count` items.
    unsafe { datatype.unpack(to, count, 0, &native) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_datatype::{Form, TypeRef, all_predefined, types};

    fn round_trip(datatype: &Datatype, data: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut external = vec![0; packed_len(datatype, 1).expect("small") as usize];
        // SAFETY: the data is as long as the datatype's extent.
        unsafe { pack(datatype, data.as_ptr(), 1, &mut external) }.expect("memory");
        let mut back = vec![0; data.len()];
        // SAFETY: the vector is as long as the datatype's extent.
        unsafe { unpack(datatype, back.as_mut_ptr(), 1, &external) }.expect("memory");
        (external, back)
    }

    #[test]
    fn every_predefined_type_comes_back() {
        for datatype in all_predefined() {
            let mut data: Vec<u8> = vec![0; datatype.extent() as usize];
            data[0] = 7;
            assert_eq!(round_trip(datatype, &data).1, data, "{:?}", datatype.predefined_basic());
        }
    }

    #[test]
    fn a_structure_is_packed_as_the_standard_says() {
        let parts = [TypeRef::from(&types::MPI_LONG), TypeRef::from(&types::MPI_SHORT)];
        let datatype = Datatype::structure(Form::Small, &[2, 1], &[0, 16], &parts).expect("a type");
        let mut data = [0u8; 18];
        data[..8].copy_from_slice(&(-2i64).to_ne_bytes());
        data[8..16].copy_from_slice(&5i64.to_ne_bytes());
        data[16..].copy_from_slice(&0x0102i16.to_ne_bytes());
        let (external, back) = round_trip(&datatype, &data);
        assert_eq!(external, [0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 5, 1, 2]);
        assert_eq!(back, data);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn long_doubles_become_binary128() {
        // 1.5: significand 1.1, exponent 0.
        let mut data = [0u8; 16];
        data[7..10].copy_from_slice(&[0xc0, 0xff, 0x3f]);
        let (external, back) = round_trip(&types::MPI_LONG_DOUBLE, &data);
        assert_eq!(external[..4], [0x3f, 0xff, 0x80, 0]);
        assert_eq!(back, data);
        let mut up = [0u8; 16];
        binary128_to_long_double(0x3fff_ffff_ffff_ffff_ffff_ffff_ffff_ffff, &mut up);
        assert_eq!(up[7..10], [0x80, 0, 0x40], "the next number is 2");
    }
}
