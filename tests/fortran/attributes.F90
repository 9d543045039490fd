! Attributes of datatypes and windows, with functions of the program and those of MPI; and of communicators with the latter.
module counted
#include "form.h"
  integer :: copies = 0, deletes = 0
contains
  subroutine copy_of_type(type, keyval, state, given, result, flag, code)
    DATATYPE :: type
    integer :: keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: state, given, result
    logical :: flag
    if (state /= 50) error stop 'the extra state of a copy'
    copies = copies + 1
    result = given + state
    flag = given /= 13
    code = MPI_SUCCESS
  end subroutine copy_of_type
  subroutine delete_of_type(type, keyval, value, state, code)
    DATATYPE :: type
    integer :: keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    if (state /= 50) error stop 'the extra state of a deletion'
    deletes = deletes + 1
    code = MPI_SUCCESS
  end subroutine delete_of_type
  subroutine copy_of_window(win, keyval, state, given, result, flag, code)
    WIN :: win
    integer :: keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: state, given, result
    logical :: flag
    error stop 'a window has no copy'
  end subroutine copy_of_window
  subroutine delete_of_window(win, keyval, value, state, code)
    WIN :: win
    integer :: keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    if (state /= 60) error stop 'the extra state of a window'
    deletes = deletes + 1
    code = MPI_SUCCESS
  end subroutine delete_of_window
end module counted

program attributes
  use counted
#ifndef F08
#ifndef MPIF
  use mpi
#endif
#else
  use mpi_f08
#endif
  implicit none
  integer :: rank, ierror, keyval, other_keyval, memory(2)
  integer(kind=MPI_ADDRESS_KIND) :: value, state, bytes
  COMM :: comm
  DATATYPE :: type, copy
  WIN :: win
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  state = 50
  call MPI_Type_create_keyval(copy_of_type, delete_of_type, keyval, state, ierror)
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierror)
  call MPI_Type_get_attr(type, keyval, value, flag, ierror)
  call check(.not. flag, 'an attribute that is not set')
  value = 2_MPI_ADDRESS_KIND**40
  call MPI_Type_set_attr(type, keyval, value, ierror)
  call MPI_Type_dup(type, copy, ierror)
  call MPI_Type_get_attr(copy, keyval, value, flag, ierror)
  call check(flag .and. value == 2_MPI_ADDRESS_KIND**40 + 50 .and. copies == 1, 'MPI_Type_get_attr of a copy')
  call MPI_Type_free(copy, ierror)
  call check(deletes == 1, 'MPI_Type_free deletes')
  value = 13
  call MPI_Type_set_attr(type, keyval, value, ierror)
  call check(deletes == 2, 'MPI_Type_set_attr deletes the old one')
  call MPI_Type_dup(type, copy, ierror)
  call MPI_Type_get_attr(copy, keyval, value, flag, ierror)
  call check(.not. flag, 'an attribute that is not copied')
  call MPI_Type_free(copy, ierror)
  call MPI_Type_delete_attr(type, keyval, ierror)
  call MPI_Type_get_attr(type, keyval, value, flag, ierror)
  call check(.not. flag .and. deletes == 3, 'MPI_Type_delete_attr')
  call MPI_Type_free_keyval(keyval, ierror)
  call check(keyval == MPI_KEYVAL_INVALID, 'MPI_Type_free_keyval')
  ! The functions of MPI: one copies, the other one does not.
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state, ierror)
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, other_keyval, state, ierror)
  value = -4
  call MPI_Type_set_attr(type, keyval, value, ierror)
  call MPI_Type_set_attr(type, other_keyval, value, ierror)
  call MPI_Type_dup(type, copy, ierror)
  value = 0
  call MPI_Type_get_attr(copy, keyval, value, flag, ierror)
  call check(flag .and. value == -4, 'MPI_TYPE_DUP_FN')
  call MPI_Type_get_attr(copy, other_keyval, value, flag, ierror)
  call check(.not. flag, 'MPI_TYPE_NULL_COPY_FN')
  call MPI_Type_free_keyval(keyval, ierror)
  call MPI_Type_free_keyval(other_keyval, ierror)
  call MPI_Type_free(type, ierror)
  call MPI_Type_free(copy, ierror)

  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, ierror)
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call check(.not. flag, 'MPI_COMM_NULL_COPY_FN')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
  call MPI_Comm_free_keyval(keyval, ierror)
#ifndef F08
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 0, ierror)
  call MPI_Attr_put(MPI_COMM_SELF, keyval, 3, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  call MPI_Attr_get(comm, keyval, memory(1), flag, ierror)
  call check(.not. flag, 'MPI_NULL_COPY_FN')
  call MPI_Comm_free(comm, ierror)
  call MPI_Attr_delete(MPI_COMM_SELF, keyval, ierror)
  call MPI_Keyval_free(keyval, ierror)
#endif

  deletes = 0
  state = 60
  bytes = 8
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_create_keyval(copy_of_window, delete_of_window, keyval, state, ierror)
  value = -7
  call MPI_Win_set_attr(win, keyval, value, ierror)
  value = 0
  call MPI_Win_get_attr(win, keyval, value, flag, ierror)
  call check(flag .and. value == -7, 'MPI_Win_get_attr')
  call MPI_Win_delete_attr(win, keyval, ierror)
  call MPI_Win_get_attr(win, keyval, value, flag, ierror)
  call check(.not. flag .and. deletes == 1, 'MPI_Win_delete_attr')
  call MPI_Win_set_attr(win, keyval, value, ierror)
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, other_keyval, state, ierror)
  value = 99
  call MPI_Win_set_attr(win, other_keyval, value, ierror)
  call MPI_Win_get_attr(win, other_keyval, value, flag, ierror)
  call check(flag .and. value == 99, 'MPI_WIN_NULL_DELETE_FN')
  call MPI_Win_free_keyval(other_keyval, ierror)
  call check(other_keyval == MPI_KEYVAL_INVALID, 'MPI_Win_free_keyval')
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, other_keyval, state, ierror)
  call MPI_Win_free_keyval(other_keyval, ierror)
  call MPI_Win_free(win, ierror)
  call check(deletes == 2, 'MPI_Win_free deletes')
  call MPI_Win_free_keyval(keyval, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program attributes
