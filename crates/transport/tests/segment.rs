//! The ranks of a machine agree on the segment that they share, and read it fairly.
#![cfg(not(loom))]

use heddle_bootstrap::JobControl;
use heddle_transport::{Envelope, Fabric, Header, Inbox, Outbox, RingAccess};
use std::sync::Arc;

/// The ranks of a new job, which propose these numbers of VNIs.
fn attach<const N: usize>(vnis: [usize; N]) -> [Arc<Fabric>; N] {
    let job = JobControl::create(N as u32).expect("the memory of a job");
    let mut ranks = 0..;
    vnis.map(|vnis| {
        let world = job.world_of(ranks.next().expect("a rank")).expect("the job is there");
        Arc::new(Fabric::attach(&world, vnis).expect("a segment"))
    })
}

fn send(outbox: &mut Outbox, tag: i32) -> bool {
    let header = Header { kind: 0, aux: 0, context: 0, envelope: Envelope::new(0, tag) };
    outbox.send_inline(&header, 0, |_| {})
}

/// The senders of the messages that one poll takes.
fn poll(inbox: &mut Inbox, budget: usize) -> Vec<usize> {
    let mut senders = Vec::new();
    let taken = inbox.poll(budget, |sender, _| senders.push(sender));
    assert_eq!(taken, senders.len());
    senders
}

#[test]
fn the_number_of_vnis_is_that_of_the_first_rank() {
    let fabrics = attach([2, 5, 1]);
    assert_eq!(fabrics.each_ref().map(|fabric| fabric.vnis()), [2; 3]);
    for vni in 0..2 {
        assert!(send(&mut Outbox::new(&fabrics[1], vni, 2), 0));
        assert_eq!(poll(&mut Inbox::new(&fabrics[2], vni), 9), [1]);
    }
}

#[test]
fn a_poll_takes_no_more_from_a_sender_than_its_budget() {
    let [receiver, first, second] = attach([1; 3]);
    let mut inbox = Inbox::new(&receiver, 0);
    let [mut many, mut few] = [&first, &second].map(|fabric| Outbox::new(fabric, 0, 0));
    assert!((0..10).all(|tag| send(&mut many, tag)) && (0..2).all(|tag| send(&mut few, tag)));
    assert_eq!(poll(&mut inbox, 4), [1, 1, 1, 1, 2, 2]);
    assert_eq!(poll(&mut inbox, 4), [1; 4]);
    assert_eq!(poll(&mut inbox, 4), [1; 2]);
    assert_eq!(poll(&mut inbox, 4), [0; 0]);
}
