//! Objects that come and go: datatypes, groups, info objects, attributes, error handlers, names.

use crate::scene::{Parcel, Thread, call};
use heddle_comm::Plane;
use heddle_comm::attribute::{self, AttributeCarrier, Copy, Delete};
use heddle_comm::buffer::Buffer;
use heddle_comm::errhandler::{self, Holder};
use heddle_comm::info;
use heddle_comm::program::ProgramFunction;
use heddle_comm::{datatype, error_code, group};
use heddle_datatype::{Datatype, Form};
use heddle_p2p::Mode;
use heddle_spec::constants as mpi;
use std::ffi::c_int;
use std::sync::Arc;

const P2P: Plane = Plane::PointToPoint;
const TAG: i32 = 20_000;

pub(crate) fn run(thread: &mut Thread<'_>, round: usize) {
    // Long enough for a rendezvous in odd rounds.
    strided(thread, round, if round.is_multiple_of(2) { 40 } else { 20_000 });
    groups(thread);
    infos();
    attached(thread, round);
    lent(thread, round);
}

/// A communicator that another thread still uses when this one frees it: the last user destroys it.
fn lent(thread: &Thread<'_>, round: usize) {
    let scene = thread.scene;
    let comm = crate::scene::dup(thread.own_comm);
    let name = format!("lent by thread {} in round {round}", thread.number);
    comm.set_name(&name);
    let other = comm.keep();
    let open = Box::new(move |_: &[usize]| {
        assert_eq!(other.name(), name);
        assert!(other.rank() < other.size());
    });
    scene.post(thread.partner, Parcel { requests: Vec::new(), open });
    crate::scene::free(comm);
    let Parcel { requests, open } = scene.fetch(thread.number);
    open(&requests);
}

/// A message of every second number; its datatype is freed while the message is in flight.
fn strided(thread: &Thread<'_>, round: usize, count: usize) {
    let scene = thread.scene;
    let tag = TAG + thread.number as i32;
    let int = call(|| datatype::to_build_on(mpi::MPI_INT));
    let made = Datatype::vector(Form::Small, count as i64, 1, 2, &int).expect("a correct datatype");
    made.commit();
    let handle = datatype::insert(made);
    let stepping = call(|| datatype::for_communication(handle));
    let number = |rank: i32, at: usize| rank * 7 + (round + at) as i32;
    let mut numbers: Vec<i32> = (0..2 * count).map(|at| number(scene.rank, at)).collect();
    let mut room = vec![0i32; 2 * count];
    // SAFETY: the numbers live until both operations are complete.
    let outgoing = unsafe { Buffer::new(numbers.as_mut_ptr().cast(), 1, &stepping) };
    // SAFETY: the room lives until both operations are complete.
    let incoming = unsafe { Buffer::new(room.as_mut_ptr().cast(), 1, &stepping) };
    let mut requests = [
        call(|| heddle_p2p::irecv(&scene.shared, P2P, incoming, scene.from, tag)),
        call(|| heddle_p2p::isend(&scene.shared, P2P, outgoing, scene.to, tag, Mode::Standard)),
    ];
    drop(stepping);
    call(|| datatype::free(handle));
    crate::messages::complete(&mut requests, round);
    for (at, found) in room.iter().enumerate().take(2 * count - 1) {
        assert_eq!(*found, if at % 2 == 0 { number(scene.from, at) } else { 0 }, "number {at}");
    }
}

fn groups(thread: &Thread<'_>) {
    let scene = thread.scene;
    let me = call(|| scene.shared.group.include(&[scene.rank]));
    let handle = group::new_handle(Arc::new(call(|| me.union(&scene.shared.group))));
    assert_eq!(call(|| group::from_handle(handle)).size(), scene.size as usize);
    call(|| group::free(handle));
}

fn infos() {
    let handle = info::new_handle(Vec::new());
    let info = call(|| info::from_handle(handle));
    call(|| info.set("threads", "many"));
    call(|| info::free(handle));
    assert_eq!(call(|| info.get("threads")).as_deref(), Some("many"));
}

type Ignore = unsafe extern "C" fn(*mut usize, *mut c_int);

unsafe extern "C" fn ignore(_: *mut usize, _: *mut c_int) {}

/// Attributes that all threads attach to one communicator and to their own.
fn attached(thread: &Thread<'_>, round: usize) {
    let shared = &thread.scene.shared;
    let mut keyval = call(|| attribute::create(AttributeCarrier::Comm, Copy::Always, Delete::Nothing, 0));
    call(|| shared.attributes.set(AttributeCarrier::Comm, shared.handle(), keyval, round));
    let copy = crate::scene::dup(thread.own_comm);
    assert_eq!(call(|| shared.attributes.get(AttributeCarrier::Comm, keyval)), Some(round));
    call(|| shared.attributes.delete(AttributeCarrier::Comm, shared.handle(), keyval));
    call(|| attribute::free(AttributeCarrier::Comm, &mut keyval));

    // SAFETY: a C function may be called with more arguments than it reads, and nothing calls this one.
    let function = unsafe { std::mem::transmute::<Ignore, errhandler::HandlerFunction>(ignore) };
    let handler = errhandler::create(Holder::Comm, ProgramFunction::new(function));
    for comm in [shared, &copy] {
        comm.errhandler.set(handler);
    }
    call(|| errhandler::free(handler));
    let got = copy.errhandler.share();
    assert_eq!(got, handler);
    call(|| errhandler::free(got));
    shared.errhandler.set(mpi::MPI_ERRORS_RETURN);
    shared.set_name(&format!("named by thread {} in round {round}", thread.number));
    assert!(shared.name().starts_with("named by thread "));
    crate::scene::free(copy);

    let code = call(|| error_code::add_code(mpi::MPI_ERR_OTHER));
    let text = format!("made by thread {} in round {round}", thread.number);
    call(|| error_code::add_text(code, &text));
    assert_eq!(call(|| error_code::text(code)), text);
}
