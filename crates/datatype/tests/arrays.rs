//! Parts of arrays against a walk over all entries of the whole array.

use heddle_datatype::{
    Combiner, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE, Datatype,
    Distributed, Form, ORDER_C, ORDER_FORTRAN, TypeError, TypeRef, types,
};
use proptest::prelude::*;

/// The byte offsets of the entries that `belongs` accepts, in memory order.
fn naive(sizes: &[i64], order: i64, item: i64, belongs: impl Fn(&[i64]) -> bool) -> Vec<i64> {
    let total: i64 = sizes.iter().product();
    (0..total)
        .filter(|place| {
            let mut rest = *place;
            let mut index = vec![0; sizes.len()];
            let dimensions: Vec<usize> =
                if order == ORDER_C { (0..sizes.len()).rev().collect() } else { (0..sizes.len()).collect() };
            for dimension in dimensions {
                index[dimension] = rest % sizes[dimension];
                rest /= sizes[dimension];
            }
            belongs(&index)
        })
        .flat_map(|place| place * item..(place + 1) * item)
        .collect()
}

fn bytes(datatype: &Datatype) -> Vec<i64> {
    datatype.runs(1, 0).flat_map(|run| run.offset..run.offset + run.len as i64).collect()
}

fn order() -> impl Strategy<Value = i64> {
    prop_oneof![Just(ORDER_C), Just(ORDER_FORTRAN)]
}

fn check(datatype: &Datatype, expected: &[i64], total: i64) -> Result<(), TestCaseError> {
    prop_assert_eq!(bytes(datatype), expected);
    prop_assert_eq!(datatype.size(), expected.len() as i64);
    prop_assert_eq!((datatype.lb(), datatype.extent()), (0, total));
    prop_assert_eq!(datatype.true_lb(), expected.first().copied().unwrap_or(0));
    let end = expected.last().map_or(0, |last| last + 1);
    prop_assert_eq!(datatype.true_lb() + datatype.true_extent(), end);
    Ok(())
}

proptest! {
    #[test]
    fn subarrays(
        order in order(),
        dimensions in proptest::collection::vec((1_i64..7).prop_flat_map(|size| {
            (1..=size).prop_flat_map(move |part| (Just(size), Just(part), 0..=size - part))
        }), 1..4),
    ) {
        let sizes: Vec<i64> = dimensions.iter().map(|d| d.0).collect();
        let parts: Vec<i64> = dimensions.iter().map(|d| d.1).collect();
        let starts: Vec<i64> = dimensions.iter().map(|d| d.2).collect();
        let old = TypeRef::from(&types::MPI_INT);
        let datatype = Datatype::subarray(Form::Small, &sizes, &parts, &starts, order, &old).expect("a subarray");
        let expected = naive(&sizes, order, 4, |index| {
            (0..index.len()).all(|d| (starts[d]..starts[d] + parts[d]).contains(&index[d]))
        });
        check(&datatype, &expected, 4 * sizes.iter().product::<i64>())?;
    }

    #[test]
    fn distributed_arrays(
        order in order(),
        dimensions in proptest::collection::vec((1_i64..12, 1_i64..4, 0..3, 1_i64..5, any::<bool>()), 1..4),
    ) {
        let global_sizes: Vec<i64> = dimensions.iter().map(|d| d.0).collect();
        let distributions: Vec<i64> =
            dimensions.iter().map(|d| [DISTRIBUTE_NONE, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC][d.2 as usize]).collect();
        let process_sizes: Vec<i64> = dimensions.iter().map(|d| if d.2 == 0 { 1 } else { d.1 }).collect();
        let even: Vec<i64> = global_sizes.iter().zip(&process_sizes).map(|(size, p)| (size + p - 1) / p).collect();
        let blocks: Vec<i64> = dimensions.iter().zip(&even).map(|(d, even)| match (d.2, d.4) {
            (1, true) => *even,
            (1, false) => even + d.3,
            (_, true) => 1,
            (_, false) => d.3,
        }).collect();
        let arguments: Vec<i64> = dimensions.iter().zip(&blocks)
            .map(|(d, block)| if d.4 { DISTRIBUTE_DFLT_DARG } else { *block }).collect();
        let size: i64 = process_sizes.iter().product();
        let old = TypeRef::from(&types::MPI_SHORT);
        let mut all = 0;
        for rank in 0..size {
            let array = Distributed {
                size, rank, global_sizes: &global_sizes, distributions: &distributions, arguments: &arguments,
                process_sizes: &process_sizes, order,
            };
            let datatype = Datatype::darray(Form::Small, &array, &old).expect("a distributed array");
            let mut rest = rank;
            let mut coordinates = vec![0; global_sizes.len()];
            for d in (0..global_sizes.len()).rev() {
                coordinates[d] = rest % process_sizes[d];
                rest /= process_sizes[d];
            }
            let expected = naive(&global_sizes, order, 2, |index| (0..index.len()).all(|d| {
                let block = index[d] / blocks[d];
                match distributions[d] {
                    DISTRIBUTE_NONE => true,
                    DISTRIBUTE_BLOCK => block == coordinates[d],
                    _ => block % process_sizes[d] == coordinates[d],
                }
            }));
            check(&datatype, &expected, 2 * global_sizes.iter().product::<i64>())?;
            all += datatype.size();
        }
        prop_assert_eq!(all, 2 * global_sizes.iter().product::<i64>());
    }
}

#[test]
fn arguments_are_given_back() {
    let old = TypeRef::from(&types::MPI_INT);
    let small =
        Datatype::subarray(Form::Small, &[4, 5], &[2, 3], &[1, 2], ORDER_C, &old).expect("a subarray");
    assert_eq!(small.contents().combiner, Combiner::Subarray);
    assert_eq!(small.contents().integers, [2, 4, 5, 2, 3, 1, 2, ORDER_C]);
    let large =
        Datatype::subarray(Form::Large, &[4, 5], &[2, 3], &[1, 2], ORDER_C, &old).expect("a subarray");
    assert_eq!(large.contents().integers, [2, ORDER_C]);
    assert_eq!(large.contents().counts, [4, 5, 2, 3, 1, 2]);
    let array = Distributed {
        size: 6,
        rank: 4,
        global_sizes: &[10, 20],
        distributions: &[DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC],
        arguments: &[DISTRIBUTE_DFLT_DARG, 3],
        process_sizes: &[2, 3],
        order: ORDER_FORTRAN,
    };
    let small = Datatype::darray(Form::Small, &array, &old).expect("a distributed array");
    assert_eq!(small.contents().integers, [6, 4, 2, 10, 20, 17, 18, 19, 3, 2, 3, ORDER_FORTRAN]);
    let large = Datatype::darray(Form::Large, &array, &old).expect("a distributed array");
    assert_eq!(large.contents().integers, [6, 4, 2, 17, 18, 19, 3, 2, 3, ORDER_FORTRAN]);
    assert_eq!(large.contents().counts, [10, 20]);
}

#[test]
fn wrong_arguments_are_named() {
    let old = TypeRef::from(&types::MPI_INT);
    let subarray = |sizes: &[i64], parts: &[i64], starts: &[i64], order| {
        Datatype::subarray(Form::Small, sizes, parts, starts, order, &old).expect_err("a wrong argument")
    };
    assert_eq!(subarray(&[], &[], &[], ORDER_C), TypeError::NoDimensions);
    assert_eq!(subarray(&[4], &[2], &[1], 3), TypeError::Constant { what: "order", value: 3 });
    let error = subarray(&[4, 4], &[2, 2], &[0, 3], ORDER_C);
    assert_eq!(error, TypeError::Range { what: "array_of_starts", dimension: 1, value: 3, low: 0, high: 2 });
    assert_eq!(subarray(&[i64::MAX, 4], &[2, 2], &[0, 0], ORDER_C), TypeError::Overflow);
    let array = Distributed {
        size: 5,
        rank: 0,
        global_sizes: &[10, 20],
        distributions: &[DISTRIBUTE_BLOCK, DISTRIBUTE_BLOCK],
        arguments: &[DISTRIBUTE_DFLT_DARG, DISTRIBUTE_DFLT_DARG],
        process_sizes: &[2, 3],
        order: ORDER_C,
    };
    let darray = |array| Datatype::darray(Form::Small, &array, &old).expect_err("a wrong argument");
    assert_eq!(darray(array), TypeError::Grid { grid: 6, size: 5 });
    assert_eq!(darray(Distributed { size: 6, rank: 6, ..array }), TypeError::Rank { rank: 6, size: 6 });
    let error = darray(Distributed { size: 6, arguments: &[4, 20], ..array });
    assert_eq!(
        error,
        TypeError::Range { what: "array_of_dargs", dimension: 0, value: 4, low: 5, high: i64::MAX }
    );
}
