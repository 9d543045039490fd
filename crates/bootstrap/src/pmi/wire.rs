//! The words of PMI-1, as MPICH's `simple_pmi` and its launchers exchange them: lines of `name=value` pairs
//! that spaces separate. The first pair is `cmd`; each request has one reply, except an abort.

use crate::BootstrapError;
use crate::descriptor::{close_on_exec, duplicate};
use crate::external::Connection;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::RawFd;

/// A connection to the launcher.
#[derive(Debug)]
pub(super) struct Wire {
    file: BufReader<File>,
    /// The name of the job's space of words.
    space: String,
}

/// A line of the launcher.
#[derive(Debug)]
struct Reply(String);

impl Reply {
    /// The value of a name. That of `value` goes on to the end of the line.
    fn get(&self, name: &str) -> Option<&str> {
        if name == "value" {
            return self.0.split_once(" value=").map(|(_, value)| value);
        }
        self.0.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

impl Wire {
    /// Takes over the descriptor, and begins.
    pub(super) fn open(fd: RawFd) -> Result<Wire, BootstrapError> {
        let file =
            duplicate(fd).map_err(|why| BootstrapError::Launcher { what: format!("PMI_FD: {why}") })?;
        close_on_exec(fd);
        let mut wire = Wire { file: BufReader::new(file), space: String::new() };
        wire.ask("init pmi_version=1 pmi_subversion=1", "response_to_init")?;
        let space = wire.ask("get_my_kvsname", "my_kvsname")?;
        wire.space = space.get("kvsname").unwrap_or_default().to_owned();
        Ok(wire)
    }

    /// The number of this program on the launcher's command line, if the launcher gives one.
    pub(super) fn appnum(&mut self) -> Result<Option<u32>, BootstrapError> {
        let reply = self.ask("get_appnum", "appnum")?;
        Ok(reply.get("appnum").and_then(|number| number.parse().ok()))
    }

    /// The word of that name; `None` if there is no such word.
    pub(super) fn find(&mut self, name: &str) -> Result<Option<String>, BootstrapError> {
        let reply = self.reply_to(&self.get_request(name))?;
        let found = reply.get("cmd") == Some("get_result") && reply.get("rc").is_none_or(|rc| rc == "0");
        Ok(reply.get("value").filter(|_| found).map(str::to_owned))
    }

    fn get_request(&self, name: &str) -> String {
        format!("get kvsname={} key={name}", self.space)
    }

    fn say(&mut self, request: &str) -> Result<(), BootstrapError> {
        let line = format!("cmd={request}\n");
        self.file
            .get_mut()
            .write_all(line.as_bytes())
            .map_err(|source| BootstrapError::System { what: "a request to the launcher (PMI)", source })
    }

    /// Sends a request, and waits for the reply of that name.
    fn ask(&mut self, request: &str, reply: &str) -> Result<Reply, BootstrapError> {
        let answer = self.reply_to(request)?;
        let failed = answer.get("rc").is_some_and(|rc| rc != "0");
        if failed || answer.get("cmd") != Some(reply) {
            let answer =
                if answer.0.is_empty() { "it has gone".to_owned() } else { format!("{:?}", answer.0) };
            return Err(BootstrapError::Launcher {
                what: format!("asked for {request:?}, the launcher should say {reply:?}: {answer}"),
            });
        }
        Ok(answer)
    }

    /// Sends a request. Returns the line that the launcher answers; an empty one if it has gone.
    fn reply_to(&mut self, request: &str) -> Result<Reply, BootstrapError> {
        self.say(request)?;
        let mut line = String::new();
        self.file
            .read_line(&mut line)
            .map_err(|source| BootstrapError::System { what: "a reply of the launcher (PMI)", source })?;
        // A newline alone is an answer, too.
        let end = if line == "\n" { &line } else { line.trim_end() };
        Ok(Reply(end.to_owned()))
    }
}

impl Connection for Wire {
    fn put(&mut self, name: &str, word: &str) -> Result<(), BootstrapError> {
        let request = format!("put kvsname={} key={name} value={word}", self.space);
        self.ask(&request, "put_result").map(drop)
    }

    fn get(&mut self, _rank: u32, name: &str) -> Result<String, BootstrapError> {
        let reply = self.ask(&self.get_request(name), "get_result")?;
        Ok(reply.get("value").unwrap_or_default().to_owned())
    }

    fn fence(&mut self) -> Result<(), BootstrapError> {
        self.ask("barrier_in", "barrier_out").map(drop)
    }

    fn finish(mut self: Box<Self>) -> Result<(), BootstrapError> {
        self.ask("finalize", "finalize_ack").map(drop)
    }

    fn abort(&mut self, status: i32) -> Result<(), BootstrapError> {
        self.say(&format!("abort exitcode={status}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    /// Runs `body` with a launcher that gives these replies. Returns its result, and the requests that the
    /// launcher got.
    fn with_launcher<R>(replies: &[&str], body: impl FnOnce(RawFd) -> R) -> (R, Vec<String>) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        thread::scope(|scope| {
            let launcher = scope.spawn(move || {
                let mut lines = BufReader::new(theirs);
                let mut asked = Vec::new();
                for reply in replies {
                    let mut line = String::new();
                    lines.read_line(&mut line).expect("a line");
                    asked.push(line.trim_end().to_owned());
                    lines.get_mut().write_all(format!("{reply}\n").as_bytes()).expect("a reply");
                }
                let mut rest = String::new();
                while lines.read_line(&mut rest).expect("a line") != 0 {}
                asked.extend(rest.lines().map(str::to_owned));
                asked
            });
            let result = body(ours.as_raw_fd());
            drop(ours);
            (result, launcher.join().expect("it ends"))
        })
    }

    const BEGIN: [&str; 2] =
        ["cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2", "cmd=my_kvsname rc=0 kvsname=kvs_1"];

    #[test]
    fn a_word_with_spaces_and_an_end() {
        let replies = [&BEGIN[..], &["cmd=get_result rc=0 value=a b=c", "cmd=finalize_ack rc=0"]].concat();
        let (word, asked) = with_launcher(&replies, |fd| {
            let mut wire = Wire::open(fd).expect("it begins");
            let word = wire.get(0, "name").expect("a word");
            Box::new(wire).finish().expect("it ends");
            word
        });
        assert_eq!(word, "a b=c");
        assert_eq!(asked[2..], ["cmd=get kvsname=kvs_1 key=name", "cmd=finalize"]);
    }

    #[test]
    fn an_abort_has_no_reply() {
        let (_, asked) = with_launcher(&BEGIN, |fd| {
            Wire::open(fd).expect("it begins").abort(7).expect("said");
        });
        assert_eq!(asked[2..], ["cmd=abort exitcode=7"]);
    }

    #[test]
    fn an_unexpected_reply_is_an_error_that_shows_it() {
        for (reply, says) in [
            ("cmd=get_result rc=1", "rc=1"),
            ("cmd=barrier_out", "barrier_out"),
            ("garbage", "garbage"),
            ("", "\\n"),
        ] {
            let replies = [&BEGIN[..], &[reply]].concat();
            let (word, _) = with_launcher(&replies, |fd| Wire::open(fd).expect("it begins").get(0, "name"));
            let text = word.expect_err("no word").to_string();
            assert!(text.contains(says), "{reply:?} gave: {text}");
        }
        let (begun, _) = with_launcher(&[], |fd| {
            // SAFETY: the test's own socket.
            unsafe { libc::shutdown(fd, libc::SHUT_RD) };
            Wire::open(fd)
        });
        assert!(begun.expect_err("nothing to read").to_string().contains("gone"));
    }
}
