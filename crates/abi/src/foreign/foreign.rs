//! Handles, as a program of the ABI has them.

/// A kind of objects.
pub(super) trait Foreign: Copy {
    /// The type of a handle in a program.
    type Number: Copy;

    /// The handle of a number.
    fn of_number(number: Self::Number) -> Self;
    /// The handle of a number that is found without a call; otherwise word 0, which no handle has.
    fn usual(number: Self::Number) -> Self;
    /// The handle with a word.
    fn of_word(word: usize) -> Self;
    /// The word of a handle.
    fn word(self) -> usize;
    /// The number of a handle.
    fn number(self) -> Self::Number;
}

/// The type of the handles of a kind there.
pub(super) type Number<H> = <H as Foreign>::Number;
