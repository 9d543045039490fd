//! The words by which other machines find a VNI's endpoint:
//! `VNIS:COLLECTIVES:KEY:DOOR:NAME:HOST:PROVIDER`, the first five in hexadecimal digits; the fourth is empty
//! if the port asks nobody for a key. A `;` of the provider's name is a `+` there, since the launchers'
//! protocols use it.

use super::alike::Alike;
use heddle_libfabric::guard::JobKey;
use std::fmt;

/// The address of a VNI of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VniAddress {
    /// Its choices that all processes must make alike.
    pub(super) alike: Alike,
    /// The number that packets to it have to carry.
    pub(super) key: u64,
    /// The key without which nobody can connect to it, if there is one.
    pub(super) door: Option<JobKey>,
    /// The name of the endpoint, as the provider wants it.
    pub(super) name: Vec<u8>,
    /// The host's name, for messages.
    pub(super) host: String,
    /// The name of the provider.
    pub(super) provider: String,
}

impl fmt::Display for VniAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let door = self.door.map_or_else(String::new, JobKey::to_text);
        let Alike { vnis, collectives } = self.alike;
        write!(out, "{vnis:x}:{collectives:x}:{:x}:{door}:", self.key)?;
        self.name.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
        write!(out, ":{}:{}", self.host, self.provider.replace(';', "+"))
    }
}

impl VniAddress {
    /// Reads what [`Display`](fmt::Display) has written.
    pub(super) fn parse(text: &str) -> Option<VniAddress> {
        let mut parts = text.split(':');
        let vnis = usize::from_str_radix(parts.next()?, 16).ok()?;
        let collectives = u64::from_str_radix(parts.next()?, 16).ok()?;
        let key = u64::from_str_radix(parts.next()?, 16).ok()?;
        let door = match parts.next()? {
            "" => None,
            door => Some(JobKey::parse(door)?),
        };
        let digits = parts.next().filter(|digits| digits.len() % 2 == 0 && digits.is_ascii())?;
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        let name: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        let (host, provider) = (parts.next()?.to_owned(), parts.next()?.replace('+', ";"));
        let alike = Alike { vnis, collectives };
        parts.next().is_none().then_some(VniAddress { alike, key, door, name: name?, host, provider })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        for door in [None, JobKey::parse("00000000000000010000000000000002")] {
            let (name, host) = (vec![2, 0, 0xfe, 127], "node-1.rack".to_owned());
            let provider = "tcp;ofi_rxm".to_owned();
            let alike = Alike { vnis: 4, collectives: 7 };
            let address = VniAddress { alike, key: u64::MAX, door, name, host, provider };
            assert!(!address.to_string().contains(';'));
            assert_eq!(VniAddress::parse(&address.to_string()), Some(address));
        }
        for text in [
            "",
            "4:1",
            "4:0:1::00",
            "4:0:1::00:h",
            "4:1::00:h:p",
            "4:0:1:0:h:p",
            "4:0:1::0:h:p",
            "4:0:1:7:00:h:p",
            "4:0:1::0g:h:p",
            "4:x:1::00:h:p",
            "4:0:x::00:h:p",
            "4:0:1::00:h:p:",
            "4:0:1::é0:h:p",
        ] {
            assert_eq!(VniAddress::parse(text), None, "{text}");
        }
    }
}
