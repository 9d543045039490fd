//! What only the libraries of other ABIs have: procedures of their modules, subroutines of earlier standards,
//! and further names of all.

mod modules;
mod not_built;
mod removed;
mod sizes;

/// The names under which programs know the subroutines: jumps to the names in lower case with one underscore.
#[allow(non_snake_case, unreachable_pub, missing_docs)]
mod spellings {
    use std::arch::naked_asm;

    #[cfg(target_arch = "x86_64")]
    macro_rules! jump {
        ($to:literal) => {
            concat!("jmp ", $to, "@PLT")
        };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! jump {
        ($to:literal) => {
            concat!("b ", $to)
        };
    }

    include!(concat!(env!("OUT_DIR"), "/spellings.rs"));
}
