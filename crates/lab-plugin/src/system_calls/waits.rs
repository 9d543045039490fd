//! Calls that may wait for something outside of the machine: input, connections, processes that end.
//!
//! The thread waits on the machine until the call would return at once; then the host makes it. Where the
//! call has a time limit that is over, the host is given nothing to wait for. A call that does not wait has
//! the limit 0: it looks once all outside is still, so its answer does not depend on how fast that is.

use super::program::{read, write};
use super::time;
use crate::guest::Running;
use heddle_lab::shared::NEVER;
use heddle_lab::thread::Ended;
use std::ptr;

/// True if the call was one that may wait.
pub(super) fn before(running: &mut Running<'_>, number: i64) -> bool {
    let Some(wait) = Wait::of(running, number) else {
        running.stir();
        return false;
    };
    let price = running.lab.costs.system_call;
    running.pay(price);
    let deadline = wait.deadline(running);
    let mut is_still = running.lab.stirred == 0;
    let has_come = || std::mem::replace(&mut is_still, true) && wait.has_come();
    match running.guest.thread.wait_outside(running.lab, deadline, has_come) {
        Ended::TimeOver => wait.hurry(running),
        Ended::Come if wait.moves_data() => running.stir(),
        Ended::Come => {}
    }
    true
}

/// The event that a call waits for.
#[derive(Debug)]
enum Wait {
    /// A descriptor, for these events. No time limit: until they come.
    Descriptor(i32, i16, Option<Limit>),
    /// `poll`: the list, and how long in milliseconds, or where the time is.
    Poll { list: u64, count: u64, limit: Limit },
    /// `select`: how many descriptors, the three sets, and where the time is.
    Select { count: u64, sets: [u64; 3], limit: Limit },
    /// An epoll descriptor.
    Epoll(i32, Limit),
    /// A child: as `waitid` names it.
    Child(libc::idtype_t, libc::id_t),
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Milliseconds(i32),
    Timespec(u64),
    Timeval(u64),
}

impl Wait {
    fn of(running: &Running<'_>, number: i64) -> Option<Self> {
        let [a0, a1, a2, a3, a4, _] = running.guest.call.arguments;
        let is_patient = |flags: u64| {
            // SAFETY: it asks for flags.
            let open = unsafe { libc::fcntl(a0 as i32, libc::F_GETFL) };
            let may_wait = open >= 0 && !is_file(a0 as i32);
            may_wait.then_some(open & libc::O_NONBLOCK == 0 && flags as i32 & libc::MSG_DONTWAIT == 0)
        };
        let input = |flags| {
            let limit = if is_patient(flags)? { None } else { Some(Limit::Milliseconds(0)) };
            Some(Self::Descriptor(a0 as i32, libc::POLLIN, limit))
        };
        let output = |flags| is_patient(flags)?.then_some(Self::Descriptor(a0 as i32, libc::POLLOUT, None));
        match number {
            libc::SYS_read | libc::SYS_readv | libc::SYS_accept | libc::SYS_accept4 => input(0),
            libc::SYS_recvfrom => input(a3),
            libc::SYS_recvmsg => input(a2),
            libc::SYS_write | libc::SYS_writev => output(0),
            libc::SYS_sendto => output(a3),
            libc::SYS_sendmsg => output(a2),
            libc::SYS_poll => Some(Self::Poll { list: a0, count: a1, limit: Limit::Milliseconds(a2 as i32) }),
            libc::SYS_ppoll => Some(Self::Poll { list: a0, count: a1, limit: Limit::Timespec(a2) }),
            libc::SYS_select => {
                Some(Self::Select { count: a0, sets: [a1, a2, a3], limit: Limit::Timeval(a4) })
            }
            libc::SYS_pselect6 => {
                Some(Self::Select { count: a0, sets: [a1, a2, a3], limit: Limit::Timespec(a4) })
            }
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => {
                Some(Self::Epoll(a0 as i32, Limit::Milliseconds(a3 as i32)))
            }
            libc::SYS_wait4 if a2 as i32 & libc::WNOHANG == 0 => Some(match a0 as i32 {
                -1 => Self::Child(libc::P_ALL, 0),
                0 => Self::Child(libc::P_PGID, 0),
                group if group < 0 => Self::Child(libc::P_PGID, group.unsigned_abs()),
                child => Self::Child(libc::P_PID, child.unsigned_abs()),
            }),
            libc::SYS_waitid if a3 as i32 & libc::WNOHANG == 0 => {
                Some(Self::Child(a0 as libc::idtype_t, a1 as libc::id_t))
            }
            _ => None,
        }
    }

    fn limit(&self) -> Option<Limit> {
        match self {
            Self::Poll { limit, .. } | Self::Select { limit, .. } | Self::Epoll(_, limit) => Some(*limit),
            Self::Descriptor(_, _, limit) => *limit,
            Self::Child(..) => None,
        }
    }

    /// Whether the call gives or takes something, so that others may go on.
    fn moves_data(&self) -> bool {
        matches!(self, Self::Descriptor(..))
    }

    fn deadline(&self, running: &mut Running<'_>) -> u64 {
        match self.limit() {
            None | Some(Limit::Timespec(0) | Limit::Timeval(0) | Limit::Milliseconds(i32::MIN..0)) => NEVER,
            Some(Limit::Milliseconds(limit)) => time::after(running, i128::from(limit) * 1_000_000),
            Some(Limit::Timespec(address)) => time::deadline(running, address, false),
            Some(Limit::Timeval(address)) => {
                // SAFETY: the program's address.
                let limit: libc::timeval = unsafe { read(address) };
                time::after(
                    running,
                    i128::from(limit.tv_sec) * 1_000_000_000 + i128::from(limit.tv_usec) * 1000,
                )
            }
        }
    }

    /// True if the call would return at once.
    fn has_come(&self) -> bool {
        let poll = |list: *mut libc::pollfd, count: usize| {
            // SAFETY: the list has so many elements, and the call does not wait.
            unsafe { libc::poll(list, count as libc::nfds_t, 0) != 0 }
        };
        match *self {
            Self::Descriptor(number, events, _) => {
                poll([libc::pollfd { fd: number, events, revents: 0 }].as_mut_ptr(), 1)
            }
            Self::Poll { list, count, .. } => {
                // SAFETY: the program's list.
                let mut copy: Vec<libc::pollfd> =
                    (0..count).map(|index| unsafe { read(list + index * 8) }).collect();
                poll(copy.as_mut_ptr(), copy.len())
            }
            Self::Epoll(number, _) => {
                poll([libc::pollfd { fd: number, events: libc::POLLIN, revents: 0 }].as_mut_ptr(), 1)
            }
            Self::Select { count, sets, .. } => {
                let copy = |address: u64| {
                    // SAFETY: the program's set of `count` bits.
                    let word = |number: u64| unsafe { read::<u64>(address + number * 8) };
                    (address != 0).then(|| (0..count.div_ceil(64)).map(word).collect::<Vec<_>>())
                };
                let mut sets = sets.map(copy);
                let mut pointers = sets
                    .each_mut()
                    .map(|set| set.as_mut().map_or(ptr::null_mut(), |set| set.as_mut_ptr().cast()));
                let mut at_once = libc::timeval { tv_sec: 0, tv_usec: 0 };
                let [reads, writes, exceptions] = &mut pointers;
                // SAFETY: the sets have so many bits, and the call does not wait.
                unsafe { libc::select(count as i32, *reads, *writes, *exceptions, &raw mut at_once) != 0 }
            }
            Self::Child(kind, number) => {
                // SAFETY: zeros are such a structure.
                let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
                let flags = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
                // SAFETY: it writes to `found`, and does not wait.
                let result = unsafe { libc::waitid(kind, number, &raw mut found, flags) };
                // SAFETY: the number is 0 when no child has changed.
                result != 0 || unsafe { found.si_pid() } != 0
            }
        }
    }

    /// The time is over: the host's call gets no time, or something that is ready.
    fn hurry(&self, running: &mut Running<'_>) {
        match *self {
            Self::Poll { list, count, limit: Limit::Milliseconds(_) } if count > 0 => {
                keep(running, list, 8);
                // SAFETY: the program's list. Nothing can be read from a descriptor that is not there: that
                // is said at once.
                unsafe { write(list, libc::pollfd { fd: i32::MAX, events: libc::POLLIN, revents: 0 }) };
                running.answer(0);
            }
            Self::Epoll(number, Limit::Milliseconds(_)) => hurry_epoll(running, number),
            _ => {
                if let Some(Limit::Timespec(address) | Limit::Timeval(address)) = self.limit() {
                    keep(running, address, 16);
                    // SAFETY: the program's time.
                    unsafe { write(address, [0_u64; 2]) };
                }
            }
        }
    }
}

/// Whether the descriptor is a file, which is always ready.
fn is_file(descriptor: i32) -> bool {
    // SAFETY: zeros are such a structure.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: it writes to `found`.
    let result = unsafe { libc::fstat(descriptor, &raw mut found) };
    result == 0 && found.st_mode & libc::S_IFMT == libc::S_IFREG
}

/// Keeps what the program has at `address`, until the call is over.
fn keep(running: &mut Running<'_>, address: u64, bytes: u64) {
    // SAFETY: the program's memory.
    let copy = (0..bytes).map(|index| unsafe { read(address + index) }).collect();
    running.guest.call.kept.push((address, copy));
}

/// Adds an event that has happened to the epoll descriptor `set`, for this call.
fn hurry_epoll(running: &mut Running<'_>, set: i32) {
    // SAFETY: a new descriptor.
    let event = unsafe { libc::eventfd(1, libc::EFD_CLOEXEC) };
    let mut what = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
    // SAFETY: both are descriptors of this process.
    unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, event, &raw mut what) };
    running.guest.call.hurried = Some(event);
    running.answer(0);
}

/// The call is over: the program's memory and descriptors are as they were.
pub(super) fn give_back(running: &mut Running<'_>) {
    for (address, bytes) in std::mem::take(&mut running.guest.call.kept) {
        for (index, byte) in bytes.into_iter().enumerate() {
            // SAFETY: the program's memory, of which this is the contents.
            unsafe { write(address + index as u64, byte) };
        }
    }
    if let Some(event) = running.guest.call.hurried.take() {
        // SAFETY: it was made for the call; closed, it is in no set.
        unsafe { libc::close(event) };
    }
}
