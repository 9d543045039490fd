//! The proof by which a process shows that it knows another one's key, without telling the key.
//!
//! ```text
//!   8 bytes   which protocol this is, and its version
//!   8 bytes   a random number, never used twice
//!   8 bytes   SipHash-2-4 of both under the key of the process that is connected to
//! ```
//!
//! A proof that somebody has overheard is worth nothing: the process remembers the numbers that it has seen.
//! SipHash (Aumasson and Bernstein, 2012) is a code that nobody can write without its key of 128 bits; that
//! of a proof is tried once for each connection, so 64 bits of it are enough.

use std::fmt;

/// The bytes of a proof.
pub(super) const PROOF_BYTES: usize = 24;

const PROTOCOL: [u8; 8] = *b"heddle 1";

/// A secret of a process, which the ranks of its job know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JobKey([u64; 2]);

/// A key is a secret.
impl fmt::Debug for JobKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key")
    }
}

impl JobKey {
    /// A new one. Returns `None` if the system has no random numbers.
    pub(super) fn random() -> Option<JobKey> {
        Some(JobKey([random()?, random()?]))
    }

    /// The key in hexadecimal digits, for the other ranks.
    #[must_use]
    pub fn to_text(self) -> String {
        format!("{:016x}{:016x}", self.0[0], self.0[1])
    }

    /// Reads what [`to_text`](Self::to_text) has written.
    #[must_use]
    pub fn parse(text: &str) -> Option<JobKey> {
        let (first, second) = text.split_at_checked(16)?;
        let word = |text: &str| u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16);
        Some(JobKey([word(first)?, word(second)?]))
    }

    /// A proof with this number.
    pub(super) fn prove(self, number: u64) -> [u8; PROOF_BYTES] {
        let mut proof = [0; PROOF_BYTES];
        proof[..8].copy_from_slice(&PROTOCOL);
        proof[8..16].copy_from_slice(&number.to_le_bytes());
        let code = self.code(&proof[..16]);
        proof[16..].copy_from_slice(&code.to_le_bytes());
        proof
    }

    /// The number of a proof. Returns `None` if somebody wrote it who does not know the key.
    pub(super) fn check(self, proof: &[u8; PROOF_BYTES]) -> Option<u64> {
        let word = |at: usize| proof[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let is_right = proof[..8] == PROTOCOL && word(16)? == self.code(&proof[..16]);
        word(8).filter(|_| is_right)
    }

    /// SipHash-2-4.
    fn code(self, message: &[u8]) -> u64 {
        let [first, second] = self.0;
        let mut state = [
            first ^ 0x736f_6d65_7073_6575,
            second ^ 0x646f_7261_6e64_6f6d,
            first ^ 0x6c79_6765_6e65_7261,
            second ^ 0x7465_6462_7974_6573,
        ];
        let mut take = |word: u64| {
            state[3] ^= word;
            (0..2).for_each(|_| round(&mut state));
            state[0] ^= word;
        };
        let words = message.chunks_exact(8);
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        last[7] = message.len() as u8;
        for word in words.chain([&last[..]]) {
            take(word.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
        }
        state[2] ^= 0xff;
        (0..4).for_each(|_| round(&mut state));
        state.iter().fold(0, |sum, word| sum ^ word)
    }
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

/// A random number.
pub(super) fn random() -> Option<u64> {
    let mut bytes = [0; 8];
    // SAFETY: the array has the length given.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    (got == 8).then(|| u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the paper, appendix A, and the first and the last code of the authors' list.
    #[test]
    fn codes_are_those_of_siphash() {
        let key = JobKey([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        let message: Vec<u8> = (0..63).collect();
        assert_eq!(key.code(&message[..15]), 0xa129_ca61_49be_45e5);
        assert_eq!(key.code(&[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(key.code(&message[..8]), 0x93f5_f579_9a93_2462);
    }

    #[test]
    fn only_the_key_proves_itself() {
        let (key, other) = (JobKey([1, 2]), JobKey([1, 3]));
        let proof = key.prove(77);
        assert_eq!(key.check(&proof), Some(77));
        assert_eq!(other.check(&proof), None);
        for bit in 0..8 * PROOF_BYTES {
            let mut changed = proof;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.check(&changed), None, "bit {bit}");
        }
        assert_eq!(JobKey::parse(&key.to_text()), Some(key));
        for text in ["", "1", "000000000000000100000000000000020", "0000000000000001000000000000000g", "é"] {
            assert_eq!(JobKey::parse(text), None, "{text}");
        }
    }
}
