//! The arguments of MPI functions as their bodies receive them: pointers from C are wrapped
//! in types that check them.
//!
//! Every type here wraps a pointer from C. Only the entry points make them, by an unsafe function. A null
//! pointer is an error when it is used, except where the standard gives it a meaning. Buffers of data,
//! addresses, attribute values and the program's extra state stay bare pointers.

mod callback;
mod counts;
mod data;
mod list;
mod out;
mod sets;
mod status;
mod text;

pub(crate) use callback::Callback;
pub(crate) use counts::{CountOut, Counts};
pub(crate) use data::{buffer, buffer_for};
pub(crate) use list::{List, ListOut, length_of};
pub(crate) use out::{Out, pointed_to};
pub(crate) use sets::*;
pub(crate) use status::{StatusOut, bytes_of, is_cancelled, set_bytes, set_cancelled, status};
pub(crate) use text::{Text, TextOut};

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_spec::Status;
    use heddle_spec::constants::MPI_UNDEFINED;
    use std::ffi::{c_char, c_int};
    use std::ptr::{null, null_mut};

    #[test]
    fn null_pointers_are_errors_when_used() {
        // SAFETY: null is allowed.
        let out = unsafe { Out::<c_int>::new(null_mut()) };
        // SAFETY: null is allowed.
        let list = unsafe { List::<c_int>::new(null()) };
        // SAFETY: null is allowed.
        let text = unsafe { Text::new(null()) };
        assert!(out.set(1).is_err() && out.get().is_err());
        assert!(list.slice(1).is_err() && list.only().is_err() && text.get().is_err());
        assert_eq!(list.slice(0).expect("nothing is read"), []);
    }

    #[test]
    fn counts_are_widened_and_narrowed() {
        let (mut small, mut large) = (0, 0);
        // SAFETY: the variable lives long enough.
        unsafe { CountOut::int(&raw mut small) }.set(1 << 40).expect("not null");
        // SAFETY: the variable lives long enough.
        unsafe { CountOut::large(&raw mut large) }.set(1 << 40).expect("not null");
        assert_eq!((small, large), (MPI_UNDEFINED, 1 << 40));
        let values = [1, -2, 3];
        // SAFETY: the array lives long enough.
        let counts = unsafe { Counts::int(values.as_ptr()) };
        assert_eq!(counts.widened(3).expect("not null"), [1, -2, 3]);
    }

    #[test]
    fn a_status_keeps_its_error() {
        let mut status = Status { error: 77, ..Status::default() };
        // SAFETY: the status lives long enough.
        let out = unsafe { StatusOut::new(&raw mut status) };
        out.set(Status { source: 1, tag: 2, error: 3, internal: [4; 5] });
        assert_eq!(status, Status { source: 1, tag: 2, error: 77, internal: [4; 5] });
    }

    #[test]
    fn text_is_cut_at_a_character() {
        let mut room = [1 as c_char; 8];
        // SAFETY: the array is as long as the capacity given below.
        let out = unsafe { TextOut::new(room.as_mut_ptr()) };
        assert_eq!(out.set("heddlé!", 7).expect("room"), 5);
        // SAFETY: `set` ended it with NUL.
        assert_eq!(unsafe { Text::new(room.as_ptr()) }.get().expect("UTF-8"), "heddl");
        assert!(out.set("x", 0).is_err());
    }
}
