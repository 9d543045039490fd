//! Which known name a mistyped one may mean.

/// The known name that is nearest to another one, if a slip of the fingers can be the difference.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = |known: &str| strsim::damerau_levenshtein(name, known);
    let near =
        known.map(|known| (slips(known), known)).filter(|(slips, known)| *slips <= 1 + known.len() / 10);
    near.min_by_key(|(slips, _)| *slips).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["per-vni-mutex", "global-mutex", "csync"];
        assert_eq!(nearest("per-vni-mutx", known.into_iter()), Some("per-vni-mutex"));
        assert_eq!(nearest("cysnc", known.into_iter()), Some("csync"));
        assert_eq!(nearest("global-ticket", known.into_iter()), None);
    }
}
