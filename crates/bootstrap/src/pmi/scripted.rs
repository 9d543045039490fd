//! A launcher that says what a test wants.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::thread;

/// The length of the first request in these bytes, of which more may come: a line, or a message that begins
/// with its length.
fn first(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(..6).and_then(|digits| str::from_utf8(digits).ok()?.trim().parse::<usize>().ok());
    match length {
        Some(length) => (bytes.len() >= 6 + length).then_some(6 + length),
        None => bytes.iter().position(|&byte| byte == b'\n').map(|end| end + 1),
    }
}

/// Runs `body` with a launcher that answers each request with the next of these replies, and then only reads.
/// Returns the result of `body`, and the requests.
pub(super) fn with_launcher<R>(replies: &[&str], body: impl FnOnce(RawFd) -> R) -> (R, Vec<String>) {
    let (ours, mut theirs) = UnixStream::pair().expect("a pair");
    thread::scope(|scope| {
        let launcher = scope.spawn(move || {
            let mut replies = replies.iter();
            let (mut asked, mut bytes) = (Vec::new(), Vec::new());
            loop {
                while let Some(length) = first(&bytes) {
                    let request: Vec<u8> = bytes.drain(..length).collect();
                    asked.push(String::from_utf8(request).expect("letters"));
                    if let Some(reply) = replies.next() {
                        theirs.write_all(reply.as_bytes()).expect("a reply");
                    }
                }
                let mut more = [0; 1024];
                match theirs.read(&mut more).expect("a rank") {
                    0 => return asked,
                    count => bytes.extend_from_slice(&more[..count]),
                }
            }
        });
        let result = body(ours.as_raw_fd());
        drop(ours);
        (result, launcher.join().expect("it ends"))
    })
}
