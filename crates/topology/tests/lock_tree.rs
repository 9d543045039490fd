//! The topology as the tree that hierarchical locks are made from.

use heddle_locks::Hmcs;
use heddle_locks::hmcs::Tree;
use heddle_sync::{RawLock, WaitPolicy};
use heddle_topology::{NodeKind, Topology};

#[test]
fn a_written_machine_becomes_a_balanced_tree() {
    let machine: Topology = "2 packages x 4 l3 x 8 cores x 2 threads".parse().expect("a description");
    assert_eq!(Tree::from_places(machine.places(NodeKind::Core)), Tree::balanced(&[2, 4, 8], 2));
    assert_eq!(Tree::from_places(machine.places(NodeKind::L3)), Tree::balanced(&[2, 4], 16));
    assert_eq!(Tree::from_places(machine.places(NodeKind::Machine)).levels(), 1);
    assert_eq!(Tree::from_places(machine.places(NodeKind::HardwareThread)).levels(), 5);
}

/// Where `hwloc` is missing the lock is made for a machine of which nothing is known.
#[test]
fn this_machine_has_a_lock() {
    let machine = Topology::of_machine().unwrap_or_else(|error| {
        eprintln!("{error}");
        Topology::flat(1)
    });
    let tree = Tree::from_places(machine.places(NodeKind::Core));
    let lock = Hmcs::new(&tree, WaitPolicy::DEFAULT);
    println!("{machine}: {} levels", lock.tree().levels());
    let token = lock.acquire();
    assert!(lock.try_acquire().is_none());
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
}
