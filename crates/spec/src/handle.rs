//! Handles as they cross the ABI: one pointer-sized word, with a distinct type for each kind of object.

use crate::constants;

macro_rules! handles {
    ($($name:ident $c_type:literal null $null:ident;)*) => {$(
        #[doc = concat!("An `", $c_type, "`.")]
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub usize);

        impl $name {
            /// The handle of no object.
            pub const NULL: Self = Self(constants::$null);
        }
    )*};
}

handles! {
    CommHandle "MPI_Comm" null MPI_COMM_NULL;
    GroupHandle "MPI_Group" null MPI_GROUP_NULL;
    DatatypeHandle "MPI_Datatype" null MPI_DATATYPE_NULL;
    RequestHandle "MPI_Request" null MPI_REQUEST_NULL;
    OpHandle "MPI_Op" null MPI_OP_NULL;
    InfoHandle "MPI_Info" null MPI_INFO_NULL;
    ErrhandlerHandle "MPI_Errhandler" null MPI_ERRHANDLER_NULL;
    WinHandle "MPI_Win" null MPI_WIN_NULL;
    FileHandle "MPI_File" null MPI_FILE_NULL;
    SessionHandle "MPI_Session" null MPI_SESSION_NULL;
    MessageHandle "MPI_Message" null MPI_MESSAGE_NULL;
}
