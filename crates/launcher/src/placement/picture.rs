//! Places, drawn as Open MPI's users know them: a package in brackets, its cores between strokes, a letter
//! per hardware thread, `B` where the rank may run.

use heddle_topology::{MachineNode, NodeKind, Topology};

/// One rank's place on the machine.
pub(crate) fn picture(machine: &Topology, place: &[usize]) -> String {
    let mut text = String::new();
    let mut last: Option<[usize; 2]> = None;
    let mut leaves: Vec<MachineNode<'_>> =
        machine.hardware_threads().filter_map(|thread| machine.leaf(thread)).collect();
    leaves.sort_by_key(MachineNode::number);
    for leaf in leaves {
        let here = [NodeKind::Package, NodeKind::Core].map(|kind| leaf.unit(kind).number());
        match last {
            None => text.push('['),
            Some(before) if before[0] != here[0] => text.push_str("]["),
            Some(before) if before[1] != here[1] => text.push('/'),
            Some(_) => {}
        }
        let is_in_place = leaf.hardware_thread().is_some_and(|thread| place.contains(&thread));
        text.push(if is_in_place { 'B' } else { '.' });
        last = Some(here);
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_cores_and_threads() {
        let draw = |machine: &str, place: &[usize]| picture(&machine.parse().expect("a machine"), place);
        assert_eq!(draw("2 packages x 2 cores x 2 threads", &[0, 1, 6]), "[BB/..][../B.]");
        assert_eq!(draw("2 packages x 3 cores", &[3, 4, 5]), "[././.][B/B/B]");
        assert_eq!(draw("1 packages x 2 cores", &[1]), "[./B]");
    }
}
