use super::*;
use crate::guard;
use crate::{CONTEXT_BYTES, Depth, Library, Wish};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

const DEPTH: Depth = Depth { sends: 16, receives: 16 };

/// A place for one message, with its context in front.
struct Place(Box<[u8; CONTEXT_BYTES + 256]>);

impl Place {
    fn new() -> Place {
        Place(Box::new([0; CONTEXT_BYTES + 256]))
    }

    fn context(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    fn bytes(&mut self) -> *mut u8 {
        self.context().wrapping_add(CONTEXT_BYTES)
    }
}

/// Two endpoints, and the address of the second one for the first one.
fn pair() -> (Endpoint, Endpoint, Address) {
    pair_of(&["tcp;ofi_rxm"])
}

/// The same, of the first of these providers that there is.
fn pair_of(names: &[&str]) -> (Endpoint, Endpoint, Address) {
    let library = Library::open().expect("libfabric is installed");
    let wish = |name: &&str| Wish { provider: Some((*name).to_owned()), domain: Some("lo".to_owned()) };
    let provider = names.iter().find_map(|name| library.provider(&wish(name), DEPTH).ok());
    let provider = Arc::new(provider.expect("the provider"));
    let mut one = Endpoint::open(&provider).expect("an endpoint");
    let other = Endpoint::open(&provider).expect("an endpoint");
    guard::introduce(&other.name().expect("a name"), other.key());
    let address = one.insert(&other.name().expect("a name")).expect("an address");
    (one, other, address)
}

/// Starts an operation once the provider takes it, and polls until it is complete. Returns false if it fails.
fn completes(
    origin: &mut Endpoint,
    owner: &mut Endpoint,
    start: &mut dyn FnMut(&mut Endpoint) -> Submission,
) -> bool {
    let (mut taken, mut result) = (false, None);
    while result.is_none() {
        taken = taken || start(origin) == Submission::Taken;
        let (mut done, mut lost) = (false, None);
        origin.poll(|_| done = true, |operation| lost = Some(operation));
        owner.poll(|_| {}, |_| {});
        result = if done { Some(true) } else { lost.map(|_| false) };
    }
    result == Some(true)
}

#[test]
fn memory_is_read_and_written_while_it_is_exposed() {
    const LEN: usize = 3_000_000;
    for provider in ["net", "tcp;ofi_rxm"] {
        let (mut origin, mut owner, address) = pair_of(&[provider, "tcp"]);
        let mut there: Vec<u8> = (0..LEN).map(|index| (index * 7 + index / 256) as u8).collect();
        let (mut here, mut context) = (vec![0u8; LEN], Place::new());
        let exposed = (there.as_mut_ptr(), LEN);
        // SAFETY: the memory outlives the registration.
        let (exposed, memory) = unsafe { owner.expose(exposed, true, 77) }.expect("it is exposed");
        // SAFETY: the memory outlives the registration.
        let registered =
            unsafe { origin.register_for_copies(here.as_mut_ptr(), LEN) }.expect("it is registered");
        let mut read = |origin: &mut Endpoint, owner: &mut Endpoint, offset: usize| {
            let (from, to) = ((address, memory.from(offset)), here[offset..].as_mut_ptr());
            // SAFETY: the memory outlives the operation; nothing else uses it.
            let mut start = |origin: &mut Endpoint| unsafe {
                origin.read(from, to, LEN - offset, &registered, context.context())
            };
            completes(origin, owner, &mut start)
        };
        assert!(read(&mut origin, &mut owner, LEN / 3) && read(&mut origin, &mut owner, 0));
        assert!(here == there);
        here.reverse();
        let from = here.as_ptr();
        // SAFETY: the memory outlives the operation; nothing else uses it.
        let mut write = |origin: &mut Endpoint| unsafe {
            origin.write((address, memory), from, LEN, &registered, context.context())
        };
        assert!(completes(&mut origin, &mut owner, &mut write));
        assert!(here == there);
        drop(exposed);
        assert!(
            !completes(&mut origin, &mut owner, &mut write),
            "memory that is exposed no more was written"
        );
    }
}

#[test]
fn messages_arrive_in_order_and_wake_who_waits() {
    let (mut from, mut to, address) = pair();
    let mut places = [Place::new(), Place::new()];
    for place in &mut places {
        let (bytes, context) = (place.bytes(), place.context());
        // SAFETY: the places outlive the endpoints' operations; nothing else uses them.
        let outcome = unsafe { to.receive(bytes, 256, &Registered::NONE, context) };
        assert_eq!(outcome, Submission::Taken);
    }
    let mut sent = Place::new();
    let mut taken = 0;
    let mut arrived = Vec::new();
    while arrived.len() < 2 {
        taken += usize::from(match taken {
            0 => from.inject(address, b"first") == Submission::Taken,
            1 => {
                let (bytes, context) = (sent.bytes(), sent.context());
                // SAFETY: the place outlives the endpoint's operation; nothing else uses it.
                unsafe { from.send(address, bytes, 256, &Registered::NONE, context) == Submission::Taken }
            }
            _ => false,
        });
        from.poll(|_| {}, |lost| panic!("{}", lost.reason));
        to.poll(|done| arrived.push((done.context, done.len)), |lost| panic!("{}", lost.reason));
    }
    let [mut first, mut second] = places;
    assert_eq!(arrived, [(first.context(), 5), (second.context(), 256)]);
    assert_eq!(first.0[CONTEXT_BYTES..][..5], *b"first");
    assert!(to.wait_descriptor().is_some());
    while !to.may_wait() {
        to.poll(|_| {}, |_| {});
    }
    assert_eq!(second.bytes().align_offset(8), 0);
}

/// The net provider takes what has come to its sockets when it is asked before a wait.
#[test]
fn nobody_waits_while_there_is_something_to_poll_for() {
    let (mut from, mut to, address) = pair_of(&[NET, "tcp"]);
    let mut place = Place::new();
    for turn in 0..100 {
        let (bytes, context) = (place.bytes(), place.context());
        // SAFETY: the place outlives the endpoints' operations; nothing else uses it.
        let outcome = unsafe { to.receive(bytes, 256, &Registered::NONE, context) };
        assert_eq!(outcome, Submission::Taken);
        while from.inject(address, b"word") != Submission::Taken {
            from.poll(|_| {}, |_| {});
            to.poll(|_| {}, |_| {});
        }
        // The first message makes the connection, for which both have to poll.
        let mut arrived = 0;
        while turn == 0 && arrived == 0 {
            from.poll(|_| {}, |_| {});
            arrived = to.poll(|_| {}, |_| {});
        }
        while arrived == 0 {
            from.poll(|_| {}, |_| {});
            if !to.may_wait() {
                arrived = to.poll(|_| {}, |_| {});
                continue;
            }
            let fd = to.wait_descriptor().expect("a descriptor");
            let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor.
            assert_eq!(unsafe { libc::poll(&raw mut watched, 1, 10_000) }, 1, "message {turn} was missed");
        }
    }
}

/// The port of an endpoint.
fn port_of(endpoint: &Endpoint) -> SocketAddr {
    let name = endpoint.name().expect("a name");
    SocketAddr::from(([127, 0, 0, 1], u16::from_be_bytes([name[2], name[3]])))
}

/// Sends a word from one endpoint to the other until it is there.
fn say(from: &mut Endpoint, to: &mut Endpoint, address: Address, mut meanwhile: impl FnMut()) {
    let mut place = Place::new();
    let (bytes, context) = (place.bytes(), place.context());
    // SAFETY: the place outlives the receive, which is complete at the end.
    let outcome = unsafe { to.receive(bytes, 256, &Registered::NONE, context) };
    assert_eq!(outcome, Submission::Taken);
    let (mut sent, mut arrived) = (false, 0);
    while arrived == 0 {
        sent = sent || from.inject(address, b"word") == Submission::Taken;
        from.poll(|_| {}, |lost| panic!("{}", lost.reason));
        arrived = to.poll(|done| assert_eq!(done.len, 4), |lost| panic!("{}", lost.reason));
        meanwhile();
    }
}

#[test]
fn a_stranger_is_turned_away_and_costs_nothing() {
    for provider in ["net", "tcp;ofi_rxm"] {
        let (mut from, mut to, address) = pair_of(&[provider, "tcp"]);
        assert!(to.key().is_some(), "{provider}");
        let before = guard::turned_away();
        // A request of libfabric's protocol, and an acknowledgement that ends version 1.17.
        let mut request = [0; 40];
        (request[0], request[3], request[24]) = (3, 8, 1);
        let acknowledgement = [3, 0, 0, 0, 2, 0, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0];
        for first in [&request[..], &request[..7], b"GET / HTTP/1.1\r\nHost: rank\r\n\r\n"] {
            let mut stranger = TcpStream::connect(port_of(&to)).expect("the port is open");
            stranger.set_nonblocking(true).expect("it is");
            stranger.write_all(first).expect("it is sent");
            let mut is_open = true;
            while is_open {
                to.poll(|_| panic!("nothing is complete"), |lost| panic!("{}", lost.reason));
                is_open = stranger.write_all(&acknowledgement).is_ok()
                    && stranger.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
            }
        }
        assert!(guard::turned_away() >= before + 3, "{provider}");
        say(&mut from, &mut to, address, || {});
    }
}

#[test]
fn an_endpoint_that_was_turned_away_connects_once_more() {
    for provider in ["net", "tcp;ofi_rxm"] {
        let (mut from, mut to, address) = pair_of(&[provider, "tcp"]);
        let (name, before) = (to.name().expect("a name"), guard::turned_away());
        guard::introduce(&name, JobKey::parse(&"7".repeat(32)));
        let key = to.key();
        say(&mut from, &mut to, address, || {
            if guard::turned_away() >= before + 3 {
                guard::introduce(&name, key);
            }
        });
        assert!(guard::turned_away() >= before + 3, "{provider}");
    }
}
