//! The messages of the standard's error classes.

use heddle_spec::constants::*;

/// The meaning of a class.
pub(crate) fn text_of_class(class: i32) -> Option<&'static str> {
    Some(match class {
        MPI_SUCCESS => "MPI_SUCCESS: no error",
        MPI_ERR_BUFFER => "a buffer is not usable, or has no room",
        MPI_ERR_COUNT => "a count is negative or too large",
        MPI_ERR_TYPE => "not a datatype, or one that cannot be used here",
        MPI_ERR_TAG => "a tag is outside of the allowed range",
        MPI_ERR_COMM => "not a communicator, or one that cannot be used here",
        MPI_ERR_RANK => "there is no such rank",
        MPI_ERR_REQUEST => "not a request, or one that cannot be used here",
        MPI_ERR_ROOT => "there is no such root",
        MPI_ERR_GROUP => "not a group, or one that cannot be used here",
        MPI_ERR_OP => "not an operator, or one that does not fit the datatype",
        MPI_ERR_TOPOLOGY => "the communicator has no topology, or one of another kind",
        MPI_ERR_DIMS => "a dimension or the number of dimensions is wrong",
        MPI_ERR_ARG => "an argument has a value that is not allowed",
        MPI_ERR_UNKNOWN => "an error that has no class of its own is unknown to the library",
        MPI_ERR_TRUNCATE => "a message is longer than the buffer that is to receive it",
        MPI_ERR_OTHER => "an error that has no class of its own; its message says more",
        MPI_ERR_INTERN => "an error inside of the library; please report it",
        MPI_ERR_PENDING => "the operation has neither failed nor completed",
        MPI_ERR_IN_STATUS => "some operations have failed; the statuses say which, and why",
        MPI_ERR_ACCESS => "permission denied",
        MPI_ERR_AMODE => "the access mode of a file is wrong",
        MPI_ERR_ASSERT => "an assertion about accesses is not valid",
        MPI_ERR_BAD_FILE => "a file name is not valid",
        MPI_ERR_BASE => "a base address is not valid",
        MPI_ERR_CONVERSION => "a conversion function of the program has failed",
        MPI_ERR_DISP => "a displacement is not valid",
        MPI_ERR_DUP_DATAREP => "a data representation of this name exists",
        MPI_ERR_FILE_EXISTS => "the file exists",
        MPI_ERR_FILE_IN_USE => "the file is in use",
        MPI_ERR_FILE => "not a file handle",
        MPI_ERR_INFO_KEY => "a key of an info object is empty or too long",
        MPI_ERR_INFO_NOKEY => "an info object has no such key",
        MPI_ERR_INFO_VALUE => "a value of an info object is too long",
        MPI_ERR_INFO => "not an info object, or one that cannot be used here",
        MPI_ERR_IO => "input or output has failed",
        MPI_ERR_KEYVAL => "not a key of attributes, or one that cannot be used here",
        MPI_ERR_LOCKTYPE => "not a type of lock",
        MPI_ERR_NAME => "no service has this name",
        MPI_ERR_NO_MEM => "there is not enough memory",
        MPI_ERR_NOT_SAME => "processes have passed different values where they must be the same",
        MPI_ERR_NO_SPACE => "there is not enough space on the device",
        MPI_ERR_NO_SUCH_FILE => "there is no such file",
        MPI_ERR_PORT => "the name of a port is not valid",
        MPI_ERR_QUOTA => "a quota is exceeded",
        MPI_ERR_READ_ONLY => "the file or file system can only be read",
        MPI_ERR_RMA_ATTACH => "memory cannot be attached to the window",
        MPI_ERR_RMA_CONFLICT => "accesses to a window conflict",
        MPI_ERR_RMA_RANGE => "the memory accessed is not part of the window",
        MPI_ERR_RMA_SHARED => "memory cannot be shared by these processes",
        MPI_ERR_RMA_SYNC => "accesses to a window are not synchronised as they must be",
        MPI_ERR_SERVICE => "a service cannot be published or withdrawn under this name",
        MPI_ERR_SIZE => "a size is not valid",
        MPI_ERR_SPAWN => "processes cannot be started",
        MPI_ERR_UNSUPPORTED_DATAREP => "the data representation is not supported",
        MPI_ERR_UNSUPPORTED_OPERATION => "the function or feature is not supported",
        MPI_ERR_WIN => "not a window, or one that cannot be used here",
        MPI_ERR_RMA_FLAVOR => "the window was made in another way than this needs",
        MPI_ERR_PROC_ABORTED => "a process has ended early",
        MPI_ERR_VALUE_TOO_LARGE => "a value does not fit into its argument; use the form with large counts",
        MPI_ERR_SESSION => "not a session, or one that cannot be used here",
        MPI_ERR_ERRHANDLER => "not an error handler, or one for another kind of object",
        MPI_ERR_ABI => "the ABI does not have what was asked for",
        MPI_T_ERR_CANNOT_INIT => "the tools interface cannot be initialised now",
        MPI_T_ERR_NOT_ACCESSIBLE => "the tools interface cannot reach this now",
        MPI_T_ERR_NOT_INITIALIZED => "the tools interface is not initialised",
        MPI_T_ERR_NOT_SUPPORTED => "the tools interface does not have this",
        MPI_T_ERR_MEMORY => "the tools interface has no memory left",
        MPI_T_ERR_INVALID => "an argument of a function of the tools interface is wrong",
        MPI_T_ERR_INVALID_INDEX => "there is no variable, category or event with this index",
        MPI_T_ERR_INVALID_ITEM => "there is no item with this index",
        MPI_T_ERR_INVALID_SESSION => "not a session of the tools interface",
        MPI_T_ERR_INVALID_HANDLE => "not a handle of the tools interface",
        MPI_T_ERR_INVALID_NAME => "nothing has this name",
        MPI_T_ERR_OUT_OF_HANDLES => "there are no more handles",
        MPI_T_ERR_OUT_OF_SESSIONS => "there are no more sessions",
        MPI_T_ERR_CVAR_SET_NOT_NOW => "the control variable cannot be set at this time",
        MPI_T_ERR_CVAR_SET_NEVER => "the control variable can never be set",
        MPI_T_ERR_PVAR_NO_WRITE => "the performance variable cannot be written",
        MPI_T_ERR_PVAR_NO_STARTSTOP => "the performance variable cannot be started or stopped",
        MPI_T_ERR_PVAR_NO_ATOMIC => "the performance variable cannot be read and reset at once",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_text() {
        for &(name, class) in ERROR_CLASSES.iter().chain(T_ERROR_CLASSES) {
            assert_eq!(text_of_class(class).is_some(), name != "MPI_ERR_LASTCODE", "{name}");
        }
    }
}
