! Functions of the program that MPI calls: operators, attributes, error handlers, generalized requests.
module procedures
  use, intrinsic :: iso_c_binding
#include "form.h"
  integer :: handled = 0, copies = 0, deletes = 0, queries = 0, frees = 0
contains
#ifdef F08
  subroutine longer(given, result, number, datatype)
    type(c_ptr), value :: given, result
    integer :: number
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), out(:)
    call c_f_pointer(given, in, [number])
    call c_f_pointer(result, out, [number])
    if (datatype /= MPI_INTEGER) error stop 'the datatype of an operator'
    out = out + 2 * in
  end subroutine longer
#else
  subroutine longer(in, out, number, datatype)
    integer :: number, datatype, in(number), out(number)
    if (datatype /= MPI_INTEGER) error stop 'the datatype of an operator'
    out = out + 2 * in
  end subroutine longer
#endif
  subroutine copy(comm, keyval, state, given, result, flag, code)
    COMM :: comm
    integer :: keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: state, given, result
    logical :: flag
    copies = copies + 1
    result = given + state
    flag = given /= 13
    code = MPI_SUCCESS
  end subroutine copy
  subroutine delete(comm, keyval, value, state, code)
    COMM :: comm
    integer :: keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    if (state /= 1000) error stop 'the extra state'
    deletes = deletes + 1
    code = MPI_SUCCESS
  end subroutine delete
  subroutine handler(comm, code)
    COMM :: comm
    integer :: code
    if (comm /= MPI_COMM_SELF) error stop 'the communicator of an error'
    handled = code
  end subroutine handler
  subroutine query(state, status, code)
    integer(kind=MPI_ADDRESS_KIND) :: state
    STATUS(status)
    integer :: code
    queries = queries + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, int(state), code)
    call MPI_Status_set_cancelled(status, .false., code)
    SOURCE(status) = 5
    TAG(status) = 6
  end subroutine query
  subroutine release(state, code)
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer :: code
    frees = frees + 1
    state = state - 1
    code = MPI_SUCCESS
  end subroutine release
  subroutine cancel(state, complete, code)
    integer(kind=MPI_ADDRESS_KIND) :: state
    logical :: complete
    integer :: code
    if (complete) error stop 'a request that is complete'
    code = MPI_SUCCESS
  end subroutine cancel
end module procedures

program callbacks
  use procedures
#ifndef F08
#ifndef MPIF
  use mpi
#endif
#else
  use mpi_f08
#endif
  implicit none
  integer :: rank, size, ierror, keyval, found, class, i
  OP :: op
  COMM :: comm
  ERRHANDLER :: errhandler
  REQUEST :: request
  STATUS(status)
  integer(kind=MPI_ADDRESS_KIND) :: value, state
  integer :: given(3), result(3)
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)

  call MPI_Op_create(longer, .true., op, ierror)
  call MPI_Op_commutative(op, flag, ierror)
  call check(flag, 'MPI_Op_commutative')
  given = [(i, i = 1, 3)]
  result = 1
  call MPI_Reduce_local(given, result, 3, MPI_INTEGER, op, ierror)
  call check(all(result == [3, 5, 7]), 'an operator')
  call MPI_Op_free(op, ierror)
  call check(op == MPI_OP_NULL, 'MPI_Op_free')

  state = 1000
  call MPI_Comm_create_keyval(copy, delete, keyval, state, ierror)
  value = 7
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call check(flag .and. value == 1007 .and. copies == 1, 'a copied attribute')
  call MPI_Comm_free(comm, ierror)
  call check(deletes == 1, 'a deleted attribute')
  value = 13
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
  call check(deletes == 2, 'an attribute that is replaced')
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call check(.not. flag, 'an attribute that is not copied')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierror)
  call MPI_Comm_free_keyval(keyval, ierror)
  call check(keyval == MPI_KEYVAL_INVALID .and. deletes == 3, 'MPI_Comm_free_keyval')
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, ierror)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  value = 0
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call check(flag .and. value == 13, 'MPI_COMM_DUP_FN')
  call MPI_Comm_free(comm, ierror)

  call MPI_Comm_create_errhandler(handler, errhandler, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler, ierror)
  call MPI_Errhandler_free(errhandler, ierror)
  call MPI_Send(given, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
  call MPI_Error_class(handled, class, found)
  call check(class == MPI_ERR_COUNT, 'an error handler')

  state = 4
  call MPI_Grequest_start(query, release, cancel, state, request, ierror)
  ! The procedures get this variable, as from other libraries.
  state = 9
  call MPI_Test(request, flag, status, ierror)
  call check(.not. flag, 'a generalized request')
  call MPI_Cancel(request, ierror)
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, found, ierror)
  call check(found == 9 .and. SOURCE(status) == 5 .and. TAG(status) == 6, 'its status')
  call check(queries == 1 .and. frees == 1 .and. request == MPI_REQUEST_NULL, 'its end')
  call check(state == 8, 'its extra state')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program callbacks
