//! A naive datatype: its type map, entry by entry, and the standard's formulas over it.

use heddle_datatype::{Constructed, Datatype, Form, TypeRef, types};
use proptest::prelude::*;

/// One entry of a type map.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Entry {
    /// A basic element: its displacement, its length and its alignment.
    Data { at: i64, size: i64, align: i64 },
    /// The lower-bound marker.
    Lb(i64),
    /// The upper-bound marker.
    Ub(i64),
    /// An item of an old type with data, from its lower to its upper bound.
    Item(i64, i64),
}

/// A type map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Map(pub(crate) Vec<Entry>);

impl Map {
    fn data(&self) -> impl Iterator<Item = (i64, i64, i64)> {
        self.0.iter().filter_map(|entry| match *entry {
            Entry::Data { at, size, align } => Some((at, size, align)),
            _ => None,
        })
    }

    fn items(&self) -> impl Iterator<Item = (i64, i64)> {
        self.0.iter().filter_map(|entry| if let Entry::Item(lb, ub) = *entry { Some((lb, ub)) } else { None })
    }

    pub(crate) fn size(&self) -> i64 {
        self.data().map(|(_, size, _)| size).sum()
    }

    pub(crate) fn elements(&self) -> i64 {
        self.data().count() as i64
    }

    pub(crate) fn true_lb(&self) -> i64 {
        self.data().map(|(at, ..)| at).min().unwrap_or(0)
    }

    pub(crate) fn true_ub(&self) -> i64 {
        self.data().map(|(at, size, _)| at + size).max().unwrap_or(0)
    }

    pub(crate) fn lb(&self) -> i64 {
        let markers =
            self.0.iter().filter_map(|entry| if let Entry::Lb(at) = entry { Some(*at) } else { None });
        markers.min().unwrap_or_else(|| self.items().map(|(lb, _)| lb).fold(self.true_lb(), i64::min))
    }

    pub(crate) fn ub(&self) -> i64 {
        let markers =
            self.0.iter().filter_map(|entry| if let Entry::Ub(at) = entry { Some(*at) } else { None });
        markers.max().unwrap_or_else(|| {
            let align = self.data().map(|(.., align)| align).max().unwrap_or(1);
            let mut ub = self.items().map(|(_, ub)| ub).fold(self.true_ub(), i64::max);
            while (ub - self.lb()) % align != 0 {
                ub += 1;
            }
            ub
        })
    }

    pub(crate) fn extent(&self) -> i64 {
        self.ub() - self.lb()
    }

    /// Appends `length` copies of `old` at a displacement in bytes.
    fn block(&mut self, displacement: i64, length: i64, old: &Self) {
        let extent = old.extent();
        for copy in 0..length {
            let by = displacement + copy * extent;
            self.0.extend(old.0.iter().filter_map(|entry| match *entry {
                Entry::Data { at, size, align } => Some(Entry::Data { at: at + by, size, align }),
                Entry::Lb(at) => Some(Entry::Lb(at + by)),
                Entry::Ub(at) => Some(Entry::Ub(at + by)),
                Entry::Item(..) => None,
            }));
            if old.elements() > 0 {
                self.0.push(Entry::Item(old.lb() + by, old.ub() + by));
            }
        }
    }

    /// The offsets of all bytes of `count` items, in order.
    pub(crate) fn bytes(&self, count: i64) -> Vec<i64> {
        let extent = self.extent();
        (0..count)
            .flat_map(|item| {
                self.data().flat_map(move |(at, size, _)| at + item * extent..at + size + item * extent)
            })
            .collect()
    }

    /// Elements in the first `bytes` bytes of many items, if they end at an element's end.
    pub(crate) fn elements_in(&self, bytes: i64) -> Option<i64> {
        if self.size() == 0 {
            return (bytes == 0).then_some(0);
        }
        let (mut elements, mut left) = (bytes / self.size() * self.elements(), bytes % self.size());
        for (_, size, _) in self.data() {
            if left < size {
                break;
            }
            left -= size;
            elements += 1;
        }
        (left == 0).then_some(elements)
    }
}

/// A datatype and its type map.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) real: TypeRef,
    pub(crate) map: Map,
}

fn built(made: Constructed) -> TypeRef {
    made.expect("small arguments make a datatype").into()
}

fn data(parts: &[(i64, i64)]) -> Map {
    Map(parts.iter().map(|(at, size)| Entry::Data { at: *at, size: *size, align: *size }).collect())
}

fn basic() -> impl Strategy<Value = Pair> {
    let all: Vec<(&'static Datatype, Map)> = vec![
        (&types::MPI_BYTE, data(&[(0, 1)])),
        (&types::MPI_SHORT, data(&[(0, 2)])),
        (&types::MPI_INT, data(&[(0, 4)])),
        (&types::MPI_DOUBLE, data(&[(0, 8)])),
        (&types::MPI_LONG_DOUBLE, data(&[(0, 16)])),
        (&types::MPI_2INT, data(&[(0, 4), (4, 4)])),
        (&types::MPI_SHORT_INT, data(&[(0, 2), (4, 4)])),
        (&types::MPI_DOUBLE_INT, data(&[(0, 8), (8, 4)])),
        (&types::MPI_LONG_DOUBLE_INT, data(&[(0, 16), (16, 4)])),
    ];
    proptest::sample::select(all).prop_map(|(real, map)| Pair { real: real.into(), map })
}

/// Random displacements of blocks; some leave room for the items, some make blocks overlap.
fn displacements(n: usize) -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        proptest::collection::vec(-40_i64..120, n),
        // Regular ones, so that the plan's simplifications are reached.
        (-20_i64..20, 1_i64..40)
            .prop_map(move |(start, step)| { (0..n as i64).map(|block| start + block * step).collect() }),
    ]
}

fn lengths(n: usize) -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![proptest::collection::vec(0_i64..4, n), (0_i64..4).prop_map(move |length| vec![length; n])]
}

fn derived(old: Pair) -> BoxedStrategy<Pair> {
    let e = old.map.extent();
    let form = prop_oneof![Just(Form::Small), Just(Form::Large)];
    let (a, b, c, d, f, g, h) =
        (old.clone(), old.clone(), old.clone(), old.clone(), old.clone(), old.clone(), old);
    prop_oneof![
        (form, 0_i64..6).prop_map(move |(form, count)| {
            let mut map = Map::default();
            map.block(0, count, &a.map);
            Pair { real: built(Datatype::contiguous(form, count, &a.real)), map }
        }),
        (0_i64..6, 0_i64..4, -6_i64..8).prop_map(move |(count, length, stride)| {
            let mut map = Map::default();
            for block in 0..count {
                map.block(block * stride * e, length, &b.map);
            }
            Pair { real: built(Datatype::vector(Form::Small, count, length, stride, &b.real)), map }
        }),
        (0_i64..6, 0_i64..4, -60_i64..90).prop_map(move |(count, length, stride)| {
            let mut map = Map::default();
            for block in 0..count {
                map.block(block * stride, length, &c.map);
            }
            Pair { real: built(Datatype::hvector(Form::Small, count, length, stride, &c.real)), map }
        }),
        (0_usize..6).prop_flat_map(|n| (lengths(n), displacements(n), any::<bool>())).prop_map(
            move |(lengths, places, bytes)| {
                let mut map = Map::default();
                for (length, place) in lengths.iter().zip(&places) {
                    map.block(if bytes { *place } else { place * e }, *length, &d.map);
                }
                let make = if bytes { Datatype::hindexed } else { Datatype::indexed };
                Pair { real: built(make(Form::Small, &lengths, &places, &d.real)), map }
            }
        ),
        (0_usize..6).prop_flat_map(|n| (0_i64..4, displacements(n), any::<bool>())).prop_map(
            move |(length, places, bytes)| {
                let mut map = Map::default();
                for place in &places {
                    map.block(if bytes { *place } else { place * e }, length, &f.map);
                }
                let make = if bytes { Datatype::hindexed_block } else { Datatype::indexed_block };
                Pair { real: built(make(Form::Small, length, &places, &f.real)), map }
            }
        ),
        (-20_i64..20, -10_i64..100).prop_map(move |(lb, extent)| {
            let mut map = g.map.clone();
            map.0.retain(|entry| matches!(entry, Entry::Data { .. }));
            map.0.extend([Entry::Lb(lb), Entry::Ub(lb + extent)]);
            Pair { real: built(Datatype::resized(Form::Small, lb, extent, &g.real)), map }
        }),
        Just(()).prop_map(move |()| Pair { real: built(Datatype::dup(&h.real)), map: h.map.clone() }),
    ]
    .boxed()
}

fn structure(old: Vec<Pair>) -> impl Strategy<Value = Pair> {
    let n = old.len();
    (lengths(n), displacements(n)).prop_map(move |(lengths, places)| {
        let mut map = Map::default();
        for ((pair, length), place) in old.iter().zip(&lengths).zip(&places) {
            map.block(*place, *length, &pair.map);
        }
        let types: Vec<TypeRef> = old.iter().map(|pair| pair.real.clone()).collect();
        Pair { real: built(Datatype::structure(Form::Small, &lengths, &places, &types)), map }
    })
}

/// Random datatypes of any depth up to five, with at most a few thousand entries.
pub(crate) fn pair() -> impl Strategy<Value = Pair> {
    let tree = basic().prop_map(|pair| pair).prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            3 => inner.clone().prop_flat_map(derived),
            1 => proptest::collection::vec(inner, 0..4).prop_flat_map(structure),
        ]
    });
    let deeper = tree.clone().prop_flat_map(derived);
    let wider = proptest::collection::vec(tree.clone(), 0..4).prop_flat_map(structure);
    prop_oneof![1 => tree, 3 => deeper, 1 => wider].prop_filter("few entries", |pair| pair.map.0.len() < 4000)
}
