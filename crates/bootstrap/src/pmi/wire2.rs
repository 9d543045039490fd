//! The messages of PMI-2, as MPICH's Hydra and Slurm exchange them: six characters with the length of the
//! rest, then `name=value;` pairs. The first pair is `cmd`; each request has one reply, except an abort.
//!
//! No word may have a semicolon. A description of PMI-2 doubles those of a value, but neither Hydra nor Slurm
//! makes one of the two again.

use super::channel::Channel;
use super::process_mapping;
use super::wire::{Wire, unexpected, value_in};
use crate::BootstrapError;
use crate::external::{Connection, launcher_has_ended};

/// The longest message, whose length still has six digits.
const LONGEST: usize = 999_999;

/// A connection to a launcher that speaks PMI-2.
#[derive(Debug)]
pub(super) struct Wire2 {
    channel: Channel,
    appnum: Option<u32>,
}

/// A message of the launcher; an empty one if it has gone.
#[derive(Debug)]
struct Reply(String);

impl Reply {
    fn get(&self, name: &str) -> Option<&str> {
        value_in(self.0.split(';'), name)
    }

    /// The word that was asked for, if there is one. Hydra says `rc=1` if there is none.
    fn word(&self) -> Option<&str> {
        self.get("value").filter(|_| self.get("found") == Some("TRUE"))
    }
}

impl Wire2 {
    /// Begins, once the version has been agreed on: `rank` is that of the process, `job` the launcher's name
    /// for the job, if it has left one.
    pub(super) fn begin(channel: Channel, rank: u32, job: Option<&str>) -> Result<Wire2, BootstrapError> {
        let mut wire = Wire2 { channel, appnum: None };
        let rank = rank.to_string();
        // Slurm wants all three. Calls of several threads come one after the other.
        let pairs = [("pmijobid", job.unwrap_or("0")), ("pmirank", &rank), ("threaded", "FALSE")];
        let reply = wire.ask("fullinit", &pairs)?;
        // A launcher that counts no programs says -1.
        wire.appnum = reply.get("appnum").and_then(|number| number.parse().ok());
        Ok(wire)
    }

    fn say(&mut self, command: &str, pairs: &[(&str, &str)]) -> Result<(), BootstrapError> {
        let mut message = format!("cmd={command};");
        for (name, value) in pairs {
            if value.contains(';') {
                let what =
                    format!("{name} of {command} is {value:?}, but PMI-2 has no word with a semicolon");
                return Err(BootstrapError::Launcher { what });
            }
            message += &format!("{name}={value};");
        }
        if message.len() > LONGEST {
            let what = format!("{command} has {} bytes; PMI-2 allows {LONGEST}", message.len());
            return Err(BootstrapError::Launcher { what });
        }
        self.channel.send(&format!("{:6}{message}", message.len()))
    }

    /// Sends a request, and waits for its reply, which may say that it has failed.
    fn reply_to(&mut self, command: &str, pairs: &[(&str, &str)]) -> Result<Reply, BootstrapError> {
        self.say(command, pairs)?;
        let wanted = format!("{command}-response");
        let length = self.channel.bytes(6)?;
        let Ok(count) = length.trim().parse() else { return Err(unexpected(command, &wanted, &length)) };
        let reply = Reply(self.channel.bytes(count)?);
        if reply.get("cmd") == Some(&wanted) {
            Ok(reply)
        } else {
            Err(unexpected(command, &wanted, &reply.0))
        }
    }

    /// Sends a request, and waits for its reply, which has to say that all is well.
    fn ask(&mut self, command: &str, pairs: &[(&str, &str)]) -> Result<Reply, BootstrapError> {
        let reply = self.reply_to(command, pairs)?;
        match reply.get("rc") {
            None | Some("0") => Ok(reply),
            Some(_) => Err(unexpected(command, "rc=0", &reply.0)),
        }
    }
}

impl Wire for Wire2 {
    fn appnum(&mut self) -> Result<Option<u32>, BootstrapError> {
        Ok(self.appnum)
    }

    fn find(&mut self, name: &str) -> Result<Option<String>, BootstrapError> {
        Ok(self.reply_to("info-getjobattr", &[("key", name)])?.word().map(str::to_owned))
    }
}

impl Connection for Wire2 {
    fn put(&mut self, name: &str, word: &str) -> Result<(), BootstrapError> {
        self.ask("kvs-put", &[("key", name), ("value", word)]).map(drop)
    }

    fn get(&mut self, rank: u32, name: &str) -> Result<String, BootstrapError> {
        let reply = self.ask("kvs-get", &[("srcid", &rank.to_string()), ("key", name)])?;
        reply.word().map(str::to_owned).ok_or_else(|| unexpected("kvs-get", "found=TRUE", &reply.0))
    }

    fn nodes_of(&mut self, ranks: &[u32]) -> Option<Vec<u32>> {
        process_mapping::nodes_of(&self.find(process_mapping::NAME).ok()??, ranks)
    }

    fn fence(&mut self) -> Result<(), BootstrapError> {
        self.ask("kvs-fence", &[]).map(drop)
    }

    fn finish(mut self: Box<Self>) -> Result<(), BootstrapError> {
        self.ask("finalize", &[]).map(drop)
    }

    /// Hydra heeds the exit status, Slurm the wish to end all ranks.
    fn abort(&mut self, status: i32) -> Result<(), BootstrapError> {
        self.say("abort", &[("isworld", "TRUE"), ("exitcode", &status.to_string()), ("msg", "MPI_Abort")])
    }

    fn watch(&mut self) -> Result<(), BootstrapError> {
        self.channel.watch(launcher_has_ended)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::with_launcher;
    use super::*;

    /// A message as it travels. Slurm puts the length to the left of its six characters, Hydra to the right.
    fn message(text: &str) -> String {
        format!("{:<6}{text}", text.len())
    }

    /// Runs `body` with a wire to a launcher that gives these replies after the first one.
    fn with_wire<R>(replies: &[&str], body: impl FnOnce(Wire2) -> R) -> (R, Vec<String>) {
        let begin = "cmd=fullinit-response;rc=0;rank=3;size=4;appnum=2;";
        let replies: Vec<String> = [begin].iter().chain(replies).map(|text| message(text)).collect();
        let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
        with_launcher(&replies, |fd| {
            let channel = Channel::open(fd).expect("a descriptor");
            body(Wire2::begin(channel, 3, Some("7.0")).expect("it begins"))
        })
    }

    #[test]
    fn a_whole_life() {
        let replies = [
            "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,2));",
            "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,2));",
            "cmd=kvs-put-response;rc=0;",
            "cmd=kvs-fence-response;rc=0;",
            "cmd=kvs-get-response;rc=0;found=TRUE;value=a b=c;",
            "cmd=finalize-response;rc=0;",
        ];
        let (_, asked) = with_wire(&replies, |mut wire| {
            assert_eq!(wire.appnum().expect("known"), Some(2));
            assert_eq!(wire.find("map").expect("an answer").as_deref(), Some("(vector,(0,2,2))"));
            assert_eq!(wire.nodes_of(&[3, 1]), Some(vec![1, 0]));
            wire.put("name", "word").expect("put");
            wire.fence().expect("all are there");
            assert_eq!(wire.get(1, "name").expect("a word"), "a b=c");
            Box::new(wire).finish().expect("it ends");
        });
        let expected = [
            "    51cmd=fullinit;pmijobid=7.0;pmirank=3;threaded=FALSE;",
            "    28cmd=info-getjobattr;key=map;",
            "    44cmd=info-getjobattr;key=PMI_process_mapping;",
            "    32cmd=kvs-put;key=name;value=word;",
            "    14cmd=kvs-fence;",
            "    29cmd=kvs-get;srcid=1;key=name;",
            "    13cmd=finalize;",
        ];
        assert_eq!(asked, expected);
    }

    #[test]
    fn an_abort_has_no_reply() {
        let (_, asked) = with_wire(&[], |mut wire| wire.abort(7).expect("said"));
        assert_eq!(asked[1..], ["    48cmd=abort;isworld=TRUE;exitcode=7;msg=MPI_Abort;"]);
    }

    #[test]
    fn no_such_word_is_an_answer_or_an_error() {
        for none in
            ["cmd=info-getjobattr-response;rc=0;found=FALSE;value=x;", "cmd=info-getjobattr-response;rc=1;"]
        {
            let (word, _) = with_wire(&[none], |mut wire| wire.find("map").expect("an answer"));
            assert_eq!(word, None, "{none}");
        }
        for none in ["cmd=kvs-get-response;rc=0;found=FALSE;", "cmd=kvs-get-response;rc=1;errmsg=unknown;"] {
            let (word, _) = with_wire(&[none], |mut wire| wire.get(0, "name"));
            let text = word.expect_err("no word").to_string();
            assert!(text.contains(none), "{none} gave: {text}");
        }
    }

    #[test]
    fn a_word_that_cannot_travel_is_refused() {
        let long = "x".repeat(LONGEST);
        for (word, says) in [("a;b", "semicolon"), (&long, "999999")] {
            let replies = ["cmd=kvs-put-response;rc=0;"];
            let (put, asked) = with_wire(&replies, |mut wire| wire.put("name", word));
            assert!(put.expect_err("refused").to_string().contains(says), "{says}");
            assert_eq!(asked.len(), 1, "nothing was sent");
        }
    }

    #[test]
    fn an_unexpected_reply_is_an_error_that_shows_it() {
        let replied = |reply: &str| {
            let begin = message("cmd=fullinit-response;rc=0;appnum=-1;");
            let (fence, _) = with_launcher(&[&begin, reply], |fd| {
                let mut wire =
                    Wire2::begin(Channel::open(fd).expect("a descriptor"), 0, None).expect("it begins");
                assert_eq!(wire.appnum().expect("known"), None);
                if reply.is_empty() {
                    // SAFETY: the test's own socket.
                    unsafe { libc::shutdown(fd, libc::SHUT_RD) };
                }
                wire.fence()
            });
            fence.expect_err("no fence").to_string()
        };
        for (reply, says) in [
            (message("cmd=kvs-put-response;rc=0;"), "kvs-put-response"),
            (message("cmd=kvs-fence-response;rc=14;errmsg=a b;"), "errmsg=a b"),
            (message("garbage"), "garbage"),
            ("cmd=barrier_out\n".to_owned(), "cmd=ba"),
            (String::new(), "gone"),
        ] {
            let text = replied(&reply);
            assert!(text.contains(says), "{reply:?} gave: {text}");
        }
    }
}
