//! Results and refusals of the constructors, and sizes at the edge.

use heddle_datatype::{
    Combiner, Cursor, Datatype, Form, Run, TypeError, TypeRef, all_predefined, predefined, types,
};
use heddle_spec::constants;

fn int() -> TypeRef {
    TypeRef::from(&types::MPI_INT)
}

#[test]
fn every_handle_of_the_standard_has_its_datatype() {
    for (name, handle) in constants::DATATYPES {
        let found = predefined(*handle);
        if *handle == constants::MPI_DATATYPE_NULL {
            assert!(found.is_none());
            continue;
        }
        let basic = found.and_then(Datatype::predefined_basic).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(basic.handle, *handle);
        assert!(found.is_some_and(Datatype::is_committed));
    }
    for handle in [0, 0x1ff, 0x20_0000, 0x300, usize::MAX] {
        assert!(predefined(handle).is_none());
    }
}

#[test]
fn predefined_types_are_as_c_lays_them_out() {
    #[repr(C)]
    struct ShortInt(i16, i32);
    #[repr(C)]
    struct DoubleInt(f64, i32);
    let layout = |datatype: &Datatype| (datatype.size(), datatype.extent(), datatype.true_extent());
    assert_eq!(layout(&types::MPI_SHORT_INT), (6, size_of::<ShortInt>() as i64, 8));
    assert_eq!(layout(&types::MPI_DOUBLE_INT), (12, size_of::<DoubleInt>() as i64, 12));
    assert_eq!(layout(&types::MPI_LONG_DOUBLE_INT), (20, 32, 20));
    assert_eq!(layout(&types::MPI_2DOUBLE_PRECISION), (16, 16, 16));
    assert_eq!(layout(&types::MPI_COMPLEX32), (32, 32, 32));
    assert_eq!(types::MPI_C_DOUBLE_COMPLEX.alignment(), 8);
    for datatype in all_predefined() {
        let gaps = datatype.size() < datatype.extent();
        assert_eq!(datatype.is_contiguous(), !gaps);
        assert_eq!(datatype.contents().combiner, Combiner::Named);
    }
}

#[test]
fn arguments_are_given_back_in_the_standards_order() {
    type Case = (
        Combiner,
        Result<std::sync::Arc<Datatype>, TypeError>,
        &'static [i64],
        &'static [i64],
        &'static [i64],
    );
    let (small, large, old) = (Form::Small, Form::Large, int());
    let cases: [Case; 20] = [
        (Combiner::Contiguous, Datatype::contiguous(small, 3, &old), &[3], &[], &[]),
        (Combiner::Contiguous, Datatype::contiguous(large, 3, &old), &[], &[], &[3]),
        (Combiner::Vector, Datatype::vector(small, 3, 2, 4, &old), &[3, 2, 4], &[], &[]),
        (Combiner::Vector, Datatype::vector(large, 3, 2, 4, &old), &[], &[], &[3, 2, 4]),
        (Combiner::Hvector, Datatype::hvector(small, 3, 2, 40, &old), &[3, 2], &[40], &[]),
        (Combiner::Hvector, Datatype::hvector(large, 3, 2, 40, &old), &[], &[], &[3, 2, 40]),
        (Combiner::Indexed, Datatype::indexed(small, &[1, 2], &[5, 9], &old), &[2, 1, 2, 5, 9], &[], &[]),
        (Combiner::Indexed, Datatype::indexed(large, &[1, 2], &[5, 9], &old), &[], &[], &[2, 1, 2, 5, 9]),
        (Combiner::Hindexed, Datatype::hindexed(small, &[1, 2], &[5, 9], &old), &[2, 1, 2], &[5, 9], &[]),
        (Combiner::Hindexed, Datatype::hindexed(large, &[1, 2], &[5, 9], &old), &[], &[], &[2, 1, 2, 5, 9]),
        (Combiner::IndexedBlock, Datatype::indexed_block(small, 7, &[5, 9], &old), &[2, 7, 5, 9], &[], &[]),
        (Combiner::IndexedBlock, Datatype::indexed_block(large, 7, &[5, 9], &old), &[], &[], &[2, 7, 5, 9]),
        (Combiner::HindexedBlock, Datatype::hindexed_block(small, 7, &[5, 9], &old), &[2, 7], &[5, 9], &[]),
        (Combiner::HindexedBlock, Datatype::hindexed_block(large, 7, &[5, 9], &old), &[], &[], &[2, 7, 5, 9]),
        (Combiner::Struct, Datatype::structure(small, &[1], &[5], &[int()]), &[1, 1], &[5], &[]),
        (Combiner::Struct, Datatype::structure(large, &[1], &[5], &[int()]), &[], &[], &[1, 1, 5]),
        (Combiner::Resized, Datatype::resized(small, -4, 20, &old), &[], &[-4, 20], &[]),
        (Combiner::Resized, Datatype::resized(large, -4, 20, &old), &[], &[], &[-4, 20]),
        (Combiner::Dup, Datatype::dup(&old), &[], &[], &[]),
        (Combiner::Contiguous, Datatype::contiguous(small, 0, &old), &[0], &[], &[]),
    ];
    for (combiner, made, integers, addresses, counts) in cases {
        let made = made.expect("a datatype");
        let contents = made.contents();
        assert_eq!(contents.combiner, combiner);
        assert_eq!(
            (&contents.integers[..], &contents.addresses[..], &contents.counts[..]),
            (integers, addresses, counts)
        );
        assert_eq!(contents.types.len(), 1);
        assert!(
            matches!(contents.types[0], TypeRef::Predefined(old) if old.predefined_basic() == types::MPI_INT.predefined_basic())
        );
    }
}

#[test]
fn negative_counts_and_unequal_arrays_are_refused() {
    let (form, old) = (Form::Small, int());
    let negative = |what, value| Some(TypeError::Negative { what, value });
    assert_eq!(Datatype::contiguous(form, -1, &old).err(), negative("count", -1));
    assert_eq!(Datatype::vector(form, 1, -2, 1, &old).err(), negative("blocklength", -2));
    assert_eq!(Datatype::indexed(form, &[1, -3], &[0, 0], &old).err(), negative("array_of_blocklengths", -3));
    assert_eq!(Datatype::hindexed_block(form, -4, &[], &old).err(), negative("blocklength", -4));
    let error = Datatype::structure(form, &[-5], &[0], &[int()]).err();
    assert_eq!(error, negative("array_of_blocklengths", -5));
    let error = Datatype::structure(form, &[1, 1], &[0, 4], &[int()]).err();
    assert_eq!(error, Some(TypeError::Length { what: "array_of_types", expected: 2, found: 1 }));
}

#[test]
fn sizes_and_bounds_beyond_63_bits_are_refused() {
    let (form, old, max) = (Form::Large, int(), i64::MAX);
    let overflow = Some(TypeError::Overflow);
    assert_eq!(Datatype::contiguous(form, max / 2, &old).err(), overflow);
    assert_eq!(Datatype::vector(form, 2, 1, max / 2, &old).err(), overflow);
    assert_eq!(Datatype::hvector(form, 3, 1, max / 2 + 1, &old).err(), overflow);
    assert_eq!(Datatype::hvector(form, max, max, 0, &old).err(), overflow);
    assert_eq!(Datatype::indexed_block(form, 1, &[max / 4 + 1], &old).err(), overflow);
    assert_eq!(Datatype::hindexed(form, &[1], &[max - 3], &old).err(), overflow);
    assert_eq!(Datatype::hindexed(form, &[1, 1], &[i64::MIN, 8], &old).err(), overflow);
    assert_eq!(Datatype::structure(form, &[1, 1], &[i64::MIN, max - 4], &[int(), int()]).err(), overflow);
    assert_eq!(Datatype::resized(form, max, 1, &old).err(), overflow);
    let wide = TypeRef::from(Datatype::resized(form, 0, max, &old).expect("a wide type"));
    assert_eq!(Datatype::contiguous(form, 3, &wide).err(), overflow);
    assert!(Datatype::contiguous(form, 1, &wide).is_ok());
    let huge = Datatype::contiguous(form, max / 4, &old).expect("a huge type");
    assert_eq!(huge.packed_len(1), Some(max / 4 * 4));
    assert_eq!(huge.packed_len(2), None);
}

#[test]
fn data_far_apart_are_reached_by_position_alone() {
    let (form, old) = (Form::Large, int());
    let column = TypeRef::from(Datatype::vector(form, 1 << 20, 1, 1 << 10, &old).expect("a column"));
    let planes = Datatype::hvector(form, 1 << 18, 1, 1 << 40, &column).expect("planes");
    let mut runs = [Run { offset: 0, len: 0 }; 2];
    let position = (4 << 20) * 12_345 + 4 * 678 + 1;
    assert_eq!(planes.fill_runs(1, position, 6, &mut runs), (2, 6));
    let expected = (12_345 << 40) + (678 << 12);
    assert_eq!(runs, [Run { offset: expected + 1, len: 3 }, Run { offset: expected + (1 << 12), len: 3 }]);
    let mut cursor = Cursor::new(&planes, 1);
    cursor.seek(i64::MAX);
    assert_eq!((cursor.remaining(), cursor.position()), (0, planes.size()));
}

#[test]
fn displacements_may_be_addresses() {
    let (a, mut b) = ([1_i32, 2, 3], [0.0_f64; 2]);
    let addresses = [a.as_ptr().expose_provenance() as i64, b.as_mut_ptr().expose_provenance() as i64];
    let fields = [int(), TypeRef::from(&types::MPI_DOUBLE)];
    let both = Datatype::structure(Form::Small, &[3, 1], &addresses, &fields).expect("a structure");
    let mut packed = [0; 20];
    let bottom = std::ptr::with_exposed_provenance_mut::<u8>(0);
    // SAFETY: the displacements are the addresses of `a` and `b`.
    assert_eq!(unsafe { both.pack(bottom, 1, 0, &mut packed) }, 20);
    assert_eq!(packed[..12], [1_i32, 2, 3].map(i32::to_ne_bytes).concat());
    let second = Datatype::hindexed(Form::Small, &[1], &[addresses[1] + 8], &fields[1]).expect("an element");
    // SAFETY: the displacement is an address inside of `b`.
    assert_eq!(unsafe { second.unpack(bottom, 1, 0, &2.5_f64.to_ne_bytes()) }, 8);
    assert_eq!(b, [0.0, 2.5]);
}

#[test]
fn committing_and_duplicating() {
    let made = TypeRef::from(Datatype::contiguous(Form::Small, 2, &int()).expect("a datatype"));
    assert!(!made.is_committed() && !Datatype::dup(&made).expect("a duplicate").is_committed());
    made.commit();
    assert!(made.is_committed() && Datatype::dup(&made).expect("a duplicate").is_committed());
    assert!(Datatype::dup(&int()).expect("a duplicate").is_committed());
}

#[test]
fn accumulates_learn_the_one_basic_type() {
    let pair = TypeRef::from(&types::MPI_DOUBLE_INT);
    let pairs = Datatype::vector(Form::Small, 3, 2, 5, &pair).expect("pairs");
    assert_eq!(pairs.uniform_basic(), types::MPI_DOUBLE_INT.predefined_basic());
    assert_eq!((pairs.predefined_basic(), pairs.basic_elements()), (None, 12));
    assert_eq!((pairs.get_elements(20), pairs.get_elements(18)), (Some(3), None));
    let empty = TypeRef::from(Datatype::contiguous(Form::Small, 0, &pair).expect("nothing"));
    let mixed = Datatype::structure(Form::Small, &[1, 1, 1], &[0, 8, 9], &[int(), empty.clone(), int()]);
    assert_eq!(mixed.expect("a structure").uniform_basic(), types::MPI_INT.predefined_basic());
    let mixed = Datatype::structure(Form::Small, &[1, 1], &[0, 16], &[int(), pair]).expect("a structure");
    assert_eq!(mixed.uniform_basic(), None);
    assert_eq!((empty.uniform_basic(), empty.get_count(0), empty.get_count(1)), (None, Some(0), None));
}

#[test]
fn long_chains_of_types_need_no_deep_stack() {
    let work = || {
        let mut plain = int();
        let mut growing = int();
        for level in 0..100_000 {
            plain = Datatype::contiguous(Form::Small, 1, &plain).expect("a datatype").into();
            if level % 100 == 0 {
                let fields = [growing, TypeRef::from(&types::MPI_SHORT)];
                growing = Datatype::structure(Form::Small, &[1, 1], &[2, -8 * level], &fields)
                    .expect("a datatype")
                    .into();
            }
        }
        assert!(plain.is_contiguous());
        assert_eq!((growing.size(), growing.get_elements(2004)), (2004, Some(1001)));
        assert_eq!(growing.runs(1, 0).map(|run| run.len).sum::<usize>(), 2004);
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread");
    thread.join().expect("no overflow of the stack");
}
