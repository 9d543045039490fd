//! The commit that this program was built from.

/// The commit as `git describe` names it, with `-dirty` after it if files were changed; "unknown" if the
/// sources were no repository, or git was not there (see `build.rs`).
pub(crate) const COMMIT: &str = env!("HEDDLE_COMMIT");

#[cfg(test)]
mod tests {
    use super::COMMIT;

    #[test]
    fn the_commit_is_a_word() {
        assert!(!COMMIT.is_empty() && !COMMIT.contains(char::is_whitespace), "{COMMIT:?}");
    }
}
