! Communicators, names, info objects, attributes, datatypes, sessions: texts and handles.
program objects
#include "form.h"
  integer :: rank, size, ierror, length, lengths(2), count, found, i, integers(10), answers(10)
  COMM :: comm
  GROUP :: group
  INFO :: info
  SESSION :: session
  DATATYPE :: type, types(2)
  STATUS(status)
#ifndef F08
  integer :: plain
#endif
  integer(kind=MPI_ADDRESS_KIND) :: value, displacements(2), addresses(2), extent, lower, contents(10)
  character(len=8) :: short
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_ERROR_STRING) :: message
  logical :: flag

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, found, ierror)
  call check(found == MPI_THREAD_MULTIPLE, 'MPI_Init_thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)

  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_name(comm, 'a  name   ', ierror)
  call MPI_Comm_get_name(comm, name, length, ierror)
  call check(name == 'a  name' .and. length == 7, 'a name')
  short = 'xxxxxxxx'
  call MPI_Comm_set_name(comm, 'longer than that', ierror)
  call MPI_Comm_get_name(comm, short, length, ierror)
  call check(short == 'longer t', 'a name that is cut off')
  call MPI_Comm_compare(comm, MPI_COMM_WORLD, found, ierror)
  call check(found == MPI_CONGRUENT, 'MPI_Comm_compare')
  call MPI_Comm_group(comm, group, ierror)
  call MPI_Group_size(group, found, ierror)
  call check(found == size, 'MPI_Group_size')
  call MPI_Group_free(group, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, comm, ierror)
  call check(comm == MPI_COMM_NULL, 'no communicator')
  call MPI_Get_processor_name(host, length, ierror)
  call check(len_trim(host) == length .and. length > 0, 'MPI_Get_processor_name')
  call MPI_Get_library_version(version, length, ierror)
  call check(len_trim(version) > 0, 'MPI_Get_library_version')
  call MPI_Error_string(MPI_ERR_TAG, message, length, ierror)
  call check(length > 0, 'MPI_Error_string')

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  key  ', '  some value  ', ierror)
  call MPI_Info_get(info, 'key', len(name), name, flag, ierror)
  call check(flag .and. name == 'some value', 'MPI_Info_get')
  call MPI_Info_get(info, 'other', len(name), name, flag, ierror)
  call check(.not. flag, 'a key that is not there')
  length = 0
  call MPI_Info_get_string(info, 'key', length, name, flag, ierror)
  call check(flag .and. length == 10, 'the length of a value')
  name = ' '
  length = 4
  call MPI_Info_get_string(info, 'key', length, name, flag, ierror)
  call check(length == 10 .and. name == 'some', 'a value that is cut off')
  call MPI_Info_get_nthkey(info, 0, name, ierror)
  call check(name == 'key', 'MPI_Info_get_nthkey')
  call MPI_Info_free(info, ierror)
  call MPI_Info_create_env(info, ierror)
  call MPI_Info_free(info, ierror)
  call check(info == MPI_INFO_NULL, 'MPI_Info_free')

  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierror)
  call check(.not. flag .or. value == 0 .or. value == 1, 'MPI_WTIME_IS_GLOBAL')

  integers = [(i, i = 1, 10)]
  call MPI_Get_address(integers(1), addresses(1), ierror)
  call MPI_Get_address(integers(4), addresses(2), ierror)
  call check(MPI_Aint_diff(addresses(2), addresses(1)) == 12, 'MPI_Aint_diff')
  types = MPI_INTEGER
  lengths = [1, 2]
  displacements = addresses
  call MPI_Type_create_struct(2, lengths, displacements, types, type, ierror)
  call MPI_Type_commit(type, ierror)
  call MPI_Type_get_extent(type, lower, extent, ierror)
  call check(lower == addresses(1) .and. extent == 20, 'MPI_Type_get_extent')
  answers = 0
  call MPI_Sendrecv(MPI_BOTTOM, 1, type, rank, 3, answers, 10, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call check(count == 3 .and. all(answers(1:3) == [1, 4, 5]), 'absolute addresses')
  call MPI_Type_get_contents(type, 3, 2, 2, lengths_of(3), contents, types, ierror)
  call check(all(types == MPI_INTEGER) .and. contents(2) == addresses(2), 'MPI_Type_get_contents')
  call MPI_Type_free(type, ierror)
  call check(type == MPI_DATATYPE_NULL, 'MPI_Type_free')

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, count, ierror)
  length = 0
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierror)
  call check(count >= 2 .and. length > 0, 'the length of a set''s name')
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierror)
  call check(len_trim(name) == length .and. name(1:6) == 'mpi://', 'the name of a set')
  call MPI_Group_from_session_pset(session, 'mpi://SELF', group, ierror)
  call MPI_Group_size(group, found, ierror)
  call check(found == 1, 'MPI_Group_from_session_pset')
  call MPI_Group_free(group, ierror)
  call MPI_Session_finalize(session, ierror)
  call check(MPI_Wtime() >= 0 .and. MPI_Wtick() > 0, 'MPI_Wtime')
  call MPI_Abi_get_version(found, length, ierror)
  call check(found == MPI_ABI_VERSION .and. length == MPI_ABI_SUBVERSION, 'MPI_Abi_get_version')
  call MPI_Abi_get_fortran_info(info, ierror)
  call MPI_Info_get_nkeys(info, found, ierror)
  call check(found > 0, 'MPI_Abi_get_fortran_info')
  call truth_values()
  call MPI_Info_free(info, ierror)
  call MPI_F_sync_reg(integers)
#if !defined(MPIF) && !defined(PLAIN)
  call MPI_Sizeof(extent, length, ierror)
  call check(length == 8, 'MPI_Sizeof of a variable')
  call MPI_Sizeof(integers(1:9:2), length, ierror)
  call check(length == 4, 'MPI_Sizeof of an array')
#endif
#ifndef F08
  ! Attributes of MPI-1.
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, plain, flag, ierror)
  call check(flag .and. plain >= 32767, 'MPI_Attr_get')
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, found, 7, ierror)
  call MPI_Attr_put(MPI_COMM_WORLD, found, -5, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Attr_get(comm, found, plain, flag, ierror)
  call check(flag .and. plain == -5, 'MPI_DUP_FN')
  call MPI_Attr_delete(comm, found, ierror)
  call MPI_Attr_get(comm, found, plain, flag, ierror)
  call check(.not. flag, 'MPI_Attr_delete')
  call MPI_Comm_free(comm, ierror)
  call MPI_Keyval_free(found, ierror)
  call check(found == MPI_KEYVAL_INVALID, 'MPI_Keyval_free')
#endif
  call MPI_Finalize(ierror)
  call MPI_Finalized(flag, ierror)
  call check(flag, 'MPI_Finalized')
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
  ! LOGICALs of each size have the compiler's values in C, too. MPICH knows those of 4 bytes alone, and
  ! Intel MPI has none of its own.
  subroutine truth_values()
    logical :: is_set, plain_true, plain_false, is_heddle
    logical(kind=1) :: true_1(3), false_1(3)
    logical(kind=2) :: true_2, false_2
    logical(kind=8) :: true_8, false_8
#ifdef __GFORTRAN__
    logical(kind=16) :: true_16, false_16
#endif
    if (on_intel()) return
    is_heddle = index(version, 'Heddle') > 0
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    plain_true = .false.
    plain_false = .true.
    is_set = .false.
    call MPI_Abi_get_fortran_booleans(4, plain_true, plain_false, is_set, ierror)
    call check(ierror == MPI_SUCCESS .and. (is_set .or. .not. is_heddle), 'MPI_Abi_get_fortran_booleans')
    call check(.not. is_set .or. transfer(plain_true, 0) == transfer(.true., 0), 'the value of .true.')
    call check(.not. is_set .or. transfer(plain_false, 0) == transfer(.false., 0), 'the value of .false.')
    plain_true = .false.
    call PMPI_Abi_get_fortran_booleans(4, plain_true, plain_false, is_set, ierror)
    call check(ierror == MPI_SUCCESS .and. (plain_true .or. .not. is_set), 'PMPI_Abi_get_fortran_booleans')

    true_1 = .false.
    false_1 = .true.
    call MPI_Abi_get_fortran_booleans(1, true_1(2), false_1(2), is_set, ierror)
    call check(knows(1), 'logical(kind=1)')
    if (is_heddle) call check(all(true_1 .eqv. [.false., .true., .false.]), 'no byte beside .true.')
    if (is_heddle) call check(all(false_1 .eqv. [.true., .false., .true.]), 'no byte beside .false.')
    true_2 = .false.
    false_2 = .true.
    call MPI_Abi_get_fortran_booleans(2, true_2, false_2, is_set, ierror)
    call check(knows(2), 'logical(kind=2)')
    if (is_heddle) call check(logical(true_2 .and. .not. false_2), 'the values of logical(kind=2)')
    true_8 = .false.
    false_8 = .true.
    call MPI_Abi_get_fortran_booleans(8, true_8, false_8, is_set, ierror)
    call check(knows(8), 'logical(kind=8)')
    if (is_heddle) call check(transfer(true_8, value) == 1 .and. transfer(false_8, value) == 0, 'those of logical(kind=8)')
#ifdef __GFORTRAN__
    true_16 = .false.
    false_16 = .true.
    call MPI_Abi_get_fortran_booleans(16, true_16, false_16, is_set, ierror)
    call check(knows(16), 'logical(kind=16)')
    if (is_heddle) call check(logical(true_16 .and. .not. false_16), 'the values of logical(kind=16)')
#endif
    call MPI_Abi_get_fortran_booleans(3, plain_true, plain_false, is_set, ierror)
    call check(class_of(ierror) == MPI_ERR_ARG .or. .not. is_heddle, 'a size that no LOGICAL has')

    call MPI_Abi_set_fortran_booleans(4, .true., .false., ierror)
    call check(class_of(ierror) == MPI_ERR_ABI, 'MPI_Abi_set_fortran_booleans')
    call PMPI_Abi_set_fortran_booleans(4, plain_true, plain_false, ierror)
    call check(class_of(ierror) == MPI_ERR_ABI, 'PMPI_Abi_set_fortran_booleans')
    call MPI_Abi_set_fortran_booleans(8, true_8, false_8, ierror)
    call check(class_of(ierror) == MPI_ERR_ABI, 'MPI_Abi_set_fortran_booleans with logical(kind=8)')
    call MPI_Abi_set_fortran_info(info, ierror)
    call check(class_of(ierror) == MPI_ERR_ABI, 'MPI_Abi_set_fortran_info')
    call PMPI_Abi_set_fortran_info(info, ierror)
    call check(class_of(ierror) == MPI_ERR_ABI, 'PMPI_Abi_set_fortran_info')
    call MPI_Abi_set_fortran_info(MPI_INFO_NULL, ierror)
    call check(class_of(ierror) == MPI_ERR_INFO .or. .not. is_heddle, 'MPI_Abi_set_fortran_info without an info object')
#ifdef F08
    call MPI_Abi_set_fortran_info(info)
    call MPI_Abi_set_fortran_booleans(4, .true., .false.)
    call MPI_Abi_get_fortran_booleans(4, plain_true, plain_false, is_set)
#endif
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
  end subroutine truth_values
  ! Returns true if the last call is right about LOGICALs of `bytes` bytes. Another library than Heddle need not know them.
  logical function knows(bytes)
    integer, intent(in) :: bytes
    knows = ierror == MPI_SUCCESS .or. (index(version, 'Heddle') == 0 .and. class_of(ierror) == MPI_ERR_ABI .and. bytes /= 4)
  end function knows
  integer function class_of(code)
    integer, intent(in) :: code
    integer :: ignored
    call MPI_Error_class(code, class_of, ignored)
  end function class_of
  function lengths_of(number)
    integer, intent(in) :: number
    integer :: lengths_of(number)
    lengths_of = 0
  end function lengths_of
end program objects
