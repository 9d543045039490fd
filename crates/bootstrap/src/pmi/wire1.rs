//! The words of PMI-1, as MPICH's `simple_pmi` and its launchers exchange them: lines of `name=value` pairs
//! that spaces separate. The first pair is `cmd`; each request has one reply, except an abort.

use super::channel::Channel;
use super::process_mapping;
use super::wire::{Wire, unexpected, value_in};
use crate::BootstrapError;
use crate::external::{Connection, launcher_has_ended};

/// A connection to a launcher that speaks PMI-1.
#[derive(Debug)]
pub(super) struct Wire1 {
    channel: Channel,
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
        value_in(self.0.split(' '), name)
    }
}

impl Wire1 {
    /// Begins, once the version has been agreed on.
    pub(super) fn begin(channel: Channel) -> Result<Wire1, BootstrapError> {
        let mut wire = Wire1 { channel, space: String::new() };
        let space = wire.ask("get_my_kvsname", "my_kvsname")?;
        wire.space = space.get("kvsname").unwrap_or_default().to_owned();
        Ok(wire)
    }

    fn get_request(&self, name: &str) -> String {
        format!("get kvsname={} key={name}", self.space)
    }

    fn say(&mut self, request: &str) -> Result<(), BootstrapError> {
        self.channel.send(&format!("cmd={request}\n"))
    }

    /// Sends a request, and waits for the reply of that name.
    fn ask(&mut self, request: &str, reply: &str) -> Result<Reply, BootstrapError> {
        let answer = self.reply_to(request)?;
        let failed = answer.get("rc").is_some_and(|rc| rc != "0");
        if failed || answer.get("cmd") != Some(reply) {
            return Err(unexpected(request, reply, &answer.0));
        }
        Ok(answer)
    }

    /// Sends a request. Returns the line that the launcher answers; an empty one if it has gone.
    fn reply_to(&mut self, request: &str) -> Result<Reply, BootstrapError> {
        self.say(request)?;
        self.channel.line().map(Reply)
    }
}

impl Wire for Wire1 {
    fn appnum(&mut self) -> Result<Option<u32>, BootstrapError> {
        let reply = self.ask("get_appnum", "appnum")?;
        Ok(reply.get("appnum").and_then(|number| number.parse().ok()))
    }

    /// The launcher keeps its own words among those of the ranks.
    fn find(&mut self, name: &str) -> Result<Option<String>, BootstrapError> {
        let reply = self.reply_to(&self.get_request(name))?;
        let found = reply.get("cmd") == Some("get_result") && reply.get("rc").is_none_or(|rc| rc == "0");
        Ok(reply.get("value").filter(|_| found).map(str::to_owned))
    }
}

impl Connection for Wire1 {
    fn put(&mut self, name: &str, word: &str) -> Result<(), BootstrapError> {
        let request = format!("put kvsname={} key={name} value={word}", self.space);
        self.ask(&request, "put_result").map(drop)
    }

    fn get(&mut self, _rank: u32, name: &str) -> Result<String, BootstrapError> {
        let reply = self.ask(&self.get_request(name), "get_result")?;
        Ok(reply.get("value").unwrap_or_default().to_owned())
    }

    fn nodes_of(&mut self, ranks: &[u32]) -> Option<Vec<u32>> {
        process_mapping::nodes_of(&self.find(process_mapping::NAME).ok()??, ranks)
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

    fn watch(&mut self) -> Result<(), BootstrapError> {
        self.channel.watch(launcher_has_ended)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::with_launcher;
    use super::*;
    use std::os::fd::RawFd;

    const BEGIN: &str = "cmd=my_kvsname rc=0 kvsname=kvs_1\n";

    fn begin(fd: RawFd) -> Wire1 {
        Wire1::begin(Channel::open(fd).expect("a descriptor")).expect("it begins")
    }

    #[test]
    fn a_word_with_spaces_and_an_end() {
        let replies = [BEGIN, "cmd=get_result rc=0 value=a b=c\n", "cmd=finalize_ack rc=0\n"];
        let (word, asked) = with_launcher(&replies, |fd| {
            let mut wire = begin(fd);
            let word = wire.get(0, "name").expect("a word");
            Box::new(wire).finish().expect("it ends");
            word
        });
        assert_eq!(word, "a b=c");
        assert_eq!(asked[1..], ["cmd=get kvsname=kvs_1 key=name\n", "cmd=finalize\n"]);
    }

    #[test]
    fn an_abort_has_no_reply() {
        let (_, asked) = with_launcher(&[BEGIN], |fd| begin(fd).abort(7).expect("said"));
        assert_eq!(asked[1..], ["cmd=abort exitcode=7\n"]);
    }

    #[test]
    fn an_unexpected_reply_is_an_error_that_shows_it() {
        for (reply, says) in [
            ("cmd=get_result rc=1\n", "rc=1"),
            ("cmd=barrier_out\n", "barrier_out"),
            ("garbage\n", "garbage"),
            ("\n", "\\n"),
        ] {
            let (word, _) = with_launcher(&[BEGIN, reply], |fd| begin(fd).get(0, "name"));
            let text = word.expect_err("no word").to_string();
            assert!(text.contains(says), "{reply:?} gave: {text}");
        }
    }
}
