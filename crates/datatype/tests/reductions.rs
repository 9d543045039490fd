//! Every predefined operator on every predefined type, against a naive computation, in unaligned buffers.

use heddle_datatype::{
    Basic, BasicKind, Datatype, Op, OperatorTable, TypeClass, all_predefined, kernel, supports, types,
};
use proptest::prelude::*;

/// A number that every element type in question can hold exactly, or nearly all of an integer's range.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Integer(i128),
    Real(f64),
    Complex(f64, f64),
}

/// Sign, biased exponent and fraction of a finite double that is not subnormal.
fn split(value: f64) -> (u64, u64, u64) {
    let bits = value.to_bits();
    (bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1))
}

fn join(sign: u64, exponent: i64, fraction: u64) -> f64 {
    let exponent = exponent + 1023;
    assert!((1..2047).contains(&exponent), "tests keep to normal numbers");
    f64::from_bits(sign << 63 | (exponent as u64) << 52 | fraction)
}

fn to_x87(value: f64) -> Vec<u8> {
    let (sign, exponent, fraction) = split(value);
    let (exponent, mantissa) =
        if value == 0.0 { (0, 0) } else { (exponent + (16383 - 1023), 1 << 63 | fraction << 11) };
    let mut bytes = u64::to_le_bytes(mantissa).to_vec();
    bytes.extend(u16::to_le_bytes((sign << 15 | exponent) as u16));
    bytes.resize(16, 0xA5);
    bytes
}

fn from_x87(bytes: &[u8]) -> f64 {
    let mantissa = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let high = u16::from_le_bytes(bytes[8..10].try_into().expect("two bytes"));
    if mantissa == 0 {
        return 0.0;
    }
    join(u64::from(high >> 15), i64::from(high & 0x7FFF) - 16383, (mantissa & !(1 << 63)) >> 11)
}

fn to_quad(value: f64) -> Vec<u8> {
    let (sign, exponent, fraction) = split(value);
    let bits = if value == 0.0 {
        0
    } else {
        u128::from(sign) << 127 | u128::from(exponent + (16383 - 1023)) << 112 | u128::from(fraction) << 60
    };
    bits.to_le_bytes().to_vec()
}

fn from_quad(bytes: &[u8]) -> f64 {
    let bits = u128::from_le_bytes(bytes.try_into().expect("sixteen bytes"));
    if bits << 1 == 0 {
        return 0.0;
    }
    let exponent = (bits >> 112 & 0x7FFF) as i64 - 16383;
    join((bits >> 127) as u64, exponent, (bits >> 60) as u64 & ((1 << 52) - 1))
}

/// The kind of a complex number's parts.
fn part(kind: BasicKind) -> Option<BasicKind> {
    Some(match kind {
        BasicKind::C16 => BasicKind::F16,
        BasicKind::C32 => BasicKind::F32,
        BasicKind::C64 => BasicKind::F64,
        BasicKind::CLongDouble => BasicKind::LongDouble,
        BasicKind::C128 => BasicKind::F128,
        _ => return None,
    })
}

fn encode(kind: BasicKind, number: Number) -> Vec<u8> {
    match (kind, number) {
        (BasicKind::I8 | BasicKind::U8, Number::Integer(i)) => (i as u8).to_ne_bytes().into(),
        (BasicKind::I16 | BasicKind::U16, Number::Integer(i)) => (i as u16).to_ne_bytes().into(),
        (BasicKind::I32 | BasicKind::U32, Number::Integer(i)) => (i as u32).to_ne_bytes().into(),
        (BasicKind::I64 | BasicKind::U64, Number::Integer(i)) => (i as u64).to_ne_bytes().into(),
        (BasicKind::I128, Number::Integer(i)) => i.to_ne_bytes().into(),
        (BasicKind::F16, Number::Real(r)) => half::f16::from_f64(r).to_ne_bytes().into(),
        (BasicKind::F32, Number::Real(r)) => (r as f32).to_ne_bytes().into(),
        (BasicKind::F64, Number::Real(r)) => r.to_ne_bytes().into(),
        (BasicKind::LongDouble, Number::Real(r)) => to_x87(r),
        (BasicKind::F128, Number::Real(r)) => to_quad(r),
        (kind, Number::Complex(re, im)) => {
            let part = part(kind).expect("a complex kind");
            [encode(part, Number::Real(re)), encode(part, Number::Real(im))].concat()
        }
        other => panic!("{other:?} cannot be encoded"),
    }
}

fn decode(kind: BasicKind, bytes: &[u8]) -> Number {
    macro_rules! read {
        ($type:ty) => {
            <$type>::from_ne_bytes(bytes.try_into().expect("an element"))
        };
    }
    match kind {
        BasicKind::I8 => Number::Integer(read!(i8).into()),
        BasicKind::I16 => Number::Integer(read!(i16).into()),
        BasicKind::I32 => Number::Integer(read!(i32).into()),
        BasicKind::I64 => Number::Integer(read!(i64).into()),
        BasicKind::I128 => Number::Integer(read!(i128)),
        BasicKind::U8 => Number::Integer(read!(u8).into()),
        BasicKind::U16 => Number::Integer(read!(u16).into()),
        BasicKind::U32 => Number::Integer(read!(u32).into()),
        BasicKind::U64 => Number::Integer(read!(u64).into()),
        BasicKind::F16 => Number::Real(read!(half::f16).to_f64()),
        BasicKind::F32 => Number::Real(read!(f32).into()),
        BasicKind::F64 => Number::Real(read!(f64)),
        BasicKind::LongDouble => Number::Real(from_x87(bytes)),
        BasicKind::F128 => Number::Real(from_quad(bytes)),
        complex => {
            let part = part(complex).expect("a complex kind");
            let (re, im) = bytes.split_at(bytes.len() / 2);
            match (decode(part, re), decode(part, im)) {
                (Number::Real(re), Number::Real(im)) => Number::Complex(re, im),
                other => panic!("{other:?} are not the parts of a complex number"),
            }
        }
    }
}

/// The operator in unlimited precision; an integer result is cut to the type by `encode`.
fn naive(op: Op, a: Number, b: Number) -> Number {
    use Number::{Complex, Integer, Real};
    match (op, a, b) {
        (Op::Sum, Integer(a), Integer(b)) => Integer(a.wrapping_add(b)),
        (Op::Prod, Integer(a), Integer(b)) => Integer(a.wrapping_mul(b)),
        (Op::Min, Integer(a), Integer(b)) => Integer(a.min(b)),
        (Op::Max, Integer(a), Integer(b)) => Integer(a.max(b)),
        (Op::Band, Integer(a), Integer(b)) => Integer(a & b),
        (Op::Bor, Integer(a), Integer(b)) => Integer(a | b),
        (Op::Bxor, Integer(a), Integer(b)) => Integer(a ^ b),
        (Op::Land, Integer(a), Integer(b)) => Integer((a != 0 && b != 0).into()),
        (Op::Lor, Integer(a), Integer(b)) => Integer((a != 0 || b != 0).into()),
        (Op::Lxor, Integer(a), Integer(b)) => Integer(((a != 0) != (b != 0)).into()),
        (Op::Sum, Real(a), Real(b)) => Real(a + b),
        (Op::Prod, Real(a), Real(b)) => Real(a * b),
        (Op::Min, Real(a), Real(b)) => Real(a.min(b)),
        (Op::Max, Real(a), Real(b)) => Real(a.max(b)),
        (Op::Sum, Complex(a, b), Complex(c, d)) => Complex(a + c, b + d),
        (Op::Prod, Complex(a, b), Complex(c, d)) => Complex(a * c - b * d, a * d + b * c),
        (Op::Replace, a, _) => a,
        (Op::NoOp, _, b) => b,
        other => panic!("{other:?} is not in the standard's table"),
    }
}

fn number(kind: BasicKind, seed: (i128, i8, i8)) -> Number {
    // Quarters up to 8: sums and products are exact in every format.
    let (re, im) = (f64::from(seed.1 % 32) / 4.0, f64::from(seed.2 % 32) / 4.0);
    match kind {
        BasicKind::F16 | BasicKind::F32 | BasicKind::F64 | BasicKind::LongDouble | BasicKind::F128 => {
            Number::Real(re)
        }
        kind if part(kind).is_some() => Number::Complex(re, im),
        // Every third integer is zero or one, for the logical operators.
        kind => {
            let integer = if seed.1 % 3 == 0 { i128::from(seed.2 & 1) } else { seed.0 };
            decode(kind, &encode(kind, Number::Integer(integer)))
        }
    }
}

/// A C character is the integer that the compiler takes it for.
fn computed_as(basic: &Basic) -> BasicKind {
    if basic.name == "MPI_CHAR" && std::ffi::c_char::MIN != 0 { BasicKind::I8 } else { basic.kind }
}

/// Runs a kernel on unaligned copies of the buffers.
fn run(op: Op, datatype: &Datatype, input: &[u8], inout: &[u8], count: usize) -> Vec<u8> {
    let kernel = kernel(op, datatype, OperatorTable::Accumulate).expect("an operator that is allowed");
    let input: Vec<u8> = [&[0][..], input].concat();
    let mut memory: Vec<u8> = [&[0; 3][..], inout].concat();
    // SAFETY: both hold `count` elements behind the first bytes.
    unsafe { kernel(input[1..].as_ptr(), memory[3..].as_mut_ptr(), count) };
    memory.split_off(3)
}

proptest! {
    #[test]
    fn numbers(seeds in proptest::collection::vec(any::<((i128, i8, i8), (i128, i8, i8))>(), 0..40)) {
        for datatype in all_predefined() {
            let basic = datatype.predefined_basic().expect("a predefined type");
            for op in Op::ALL {
                if basic.class == TypeClass::Pair || !supports(op, datatype, OperatorTable::Accumulate) {
                    continue;
                }
                let kind = computed_as(basic);
                let pairs: Vec<_> =
                    seeds.iter().map(|(a, b)| (number(kind, *a), number(kind, *b))).collect();
                let input: Vec<u8> = pairs.iter().flat_map(|(a, _)| encode(kind, *a)).collect();
                let inout: Vec<u8> = pairs.iter().flat_map(|(_, b)| encode(kind, *b)).collect();
                let result = run(op, datatype, &input, &inout, pairs.len());
                for ((a, b), bytes) in pairs.iter().zip(result.chunks(datatype.extent() as usize)) {
                    let expected = decode(kind, &encode(kind, naive(op, *a, *b)));
                    prop_assert_eq!(decode(kind, bytes), expected, "{:?} {} {:?} {:?}", op, basic.name, a, b);
                }
            }
        }
    }

    #[test]
    fn values_and_indices(seeds in proptest::collection::vec(any::<((i8, i8), (i8, i8))>(), 1..20)) {
        for datatype in all_predefined() {
            let basic = datatype.predefined_basic().expect("a predefined type");
            let (value, index, offset) = match basic.kind {
                BasicKind::F32I32 => (BasicKind::F32, BasicKind::I32, 4),
                BasicKind::F64I32 => (BasicKind::F64, BasicKind::I32, 8),
                BasicKind::I64I32 => (BasicKind::I64, BasicKind::I32, 8),
                BasicKind::I32I32 => (BasicKind::I32, BasicKind::I32, 4),
                BasicKind::I16I32 => (BasicKind::I16, BasicKind::I32, 4),
                BasicKind::LongDoubleI32 => (BasicKind::LongDouble, BasicKind::I32, 16),
                BasicKind::F32F32 => (BasicKind::F32, BasicKind::F32, 4),
                BasicKind::F64F64 => (BasicKind::F64, BasicKind::F64, 8),
                _ => continue,
            };
            let element = |kind: BasicKind, i: i8| match kind {
                BasicKind::I64 | BasicKind::I32 | BasicKind::I16 => encode(kind, Number::Integer((i % 8).into())),
                _ => encode(kind, Number::Real((i % 8).into())),
            };
            let extent = datatype.extent() as usize;
            let pair = |(v, i): (i8, i8), gap: u8| {
                let mut bytes = vec![gap; extent];
                let (v, i) = (element(value, v), element(index, i));
                bytes[..v.len()].copy_from_slice(&v);
                bytes[offset..offset + i.len()].copy_from_slice(&i);
                bytes
            };
            let input: Vec<u8> = seeds.iter().flat_map(|(a, _)| pair(*a, 1)).collect();
            let inout: Vec<u8> = seeds.iter().flat_map(|(_, b)| pair(*b, 2)).collect();
            for op in [Op::Minloc, Op::Maxloc, Op::Replace, Op::NoOp] {
                let expected: Vec<u8> = seeds.iter().flat_map(|(a, b)| {
                    let ((v, i), (w, j)) = ((a.0 % 8, a.1 % 8), (b.0 % 8, b.1 % 8));
                    let input_wins = match op {
                        Op::Minloc => v < w || (v == w && i < j),
                        Op::Maxloc => v > w || (v == w && i < j),
                        other => other == Op::Replace,
                    };
                    // Gaps keep their old bytes.
                    pair(if input_wins { *a } else { *b }, 2)
                }).collect();
                prop_assert_eq!(run(op, datatype, &input, &inout, seeds.len()), expected, "{:?} {}", op, basic.name);
            }
        }
    }
}

#[test]
fn the_standards_table() {
    use TypeClass::{
        Byte, CCharacter, CInteger, Complex, Floating, FortranCharacter, FortranInteger, Logical,
        MultiLanguage, Opaque, Pair,
    };
    let table: [(&[Op], &[TypeClass]); 5] = [
        (&[Op::Max, Op::Min], &[CInteger, FortranInteger, Floating, MultiLanguage]),
        (&[Op::Sum, Op::Prod], &[CInteger, FortranInteger, Floating, Complex, MultiLanguage]),
        (&[Op::Land, Op::Lor, Op::Lxor], &[CInteger, Logical, MultiLanguage]),
        (&[Op::Band, Op::Bor, Op::Bxor], &[CInteger, FortranInteger, Byte, MultiLanguage]),
        (&[Op::Minloc, Op::Maxloc], &[Pair]),
    ];
    for datatype in all_predefined() {
        let basic = datatype.predefined_basic().expect("a predefined type");
        for (ops, classes) in &table {
            for op in *ops {
                let here = cfg!(target_arch = "x86_64")
                    || !matches!(
                        basic.kind,
                        BasicKind::LongDouble
                            | BasicKind::CLongDouble
                            | BasicKind::LongDoubleI32
                            | BasicKind::F128
                            | BasicKind::C128
                    );
                let expected = classes.contains(&basic.class) && here;
                assert_eq!(
                    supports(*op, datatype, OperatorTable::Standard),
                    expected,
                    "{op:?} on {}",
                    basic.name
                );
            }
        }
        assert!(
            supports(Op::Replace, datatype, OperatorTable::Standard) || basic.class == Pair,
            "{}",
            basic.name
        );
        assert_eq!(
            matches!(basic.class, Opaque | CCharacter | FortranCharacter),
            ["MPI_CHAR", "MPI_WCHAR", "MPI_CHARACTER", "MPI_PACKED"].contains(&basic.name)
        );
    }
}

#[test]
fn what_other_libraries_accept_beyond_the_standards_table() {
    use Op::{Band, Bor, Bxor, Land, Lor, Lxor, Max, Min, Prod, Sum};
    let everything = [Sum, Prod, Min, Max, Band, Bor, Bxor, Land, Lor, Lxor];
    let without_order = [Sum, Prod, Band, Bor, Bxor, Land, Lor, Lxor];
    let logical = [Land, Lor, Lxor];
    let more = |table| {
        let of = |datatype| Op::ALL.into_iter().filter(move |op| supports(*op, datatype, table));
        let mut more = Vec::new();
        for datatype in all_predefined() {
            let name = datatype.predefined_basic().expect("a predefined type").name;
            let new = of(datatype).filter(|op| !supports(*op, datatype, OperatorTable::Standard));
            more.extend(new.map(|op| (name, op.name())));
        }
        more.sort_unstable();
        more
    };
    let listed = |rows: &[(&'static str, &[Op])]| {
        let mut list: Vec<_> =
            rows.iter().flat_map(|(name, ops)| ops.iter().map(|op| (*name, op.name()))).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(more(OperatorTable::Standard), []);
    assert_eq!(more(OperatorTable::Reduction), listed(&[("MPI_CHAR", &everything)]));
    let accumulates: [(&str, &[Op]); 5] = [
        ("MPI_CHAR", &everything),
        ("MPI_CHARACTER", &without_order),
        ("MPI_INTEGER1", &logical),
        ("MPI_INTEGER2", &logical),
        ("MPI_INTEGER8", &logical),
    ];
    assert_eq!(more(OperatorTable::Accumulate), listed(&accumulates));
}

#[test]
fn operators_are_found_by_their_handles() {
    for op in Op::ALL {
        assert_eq!(Op::from_handle(op.handle()), Some(op));
    }
    for handle in [0, 0x20, 0x25, 0x3e, 0x200, usize::MAX] {
        assert_eq!(Op::from_handle(handle), None);
    }
}

#[test]
fn derived_types_and_wrong_types_are_refused_with_a_reason() {
    let duplicate = Datatype::dup(&(&types::MPI_INT).into()).expect("a duplicate");
    let error =
        kernel(Op::Sum, &duplicate, OperatorTable::Accumulate).expect_err("a derived type").to_string();
    assert!(error.contains("MPI_SUM") && error.contains("MPI_Op_create"), "{error}");
    let error =
        kernel(Op::Band, &types::MPI_DOUBLE, OperatorTable::Accumulate).expect_err("not allowed").to_string();
    assert!(error.contains("MPI_BAND") && error.contains("MPI_DOUBLE"), "{error}");
}
