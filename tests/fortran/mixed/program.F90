! Handles, statuses and objects that go from Fortran to C and back (side.c).
program mixed
  use, intrinsic :: iso_c_binding
#include "form.h"
#ifdef F08
#define PLAIN(handle) handle%MPI_VAL
#else
#define PLAIN(handle) handle
#endif
  interface
    integer(c_int) function rank_in_c(comm) bind(C)
      import
      integer(c_int), value :: comm
    end function
    integer(c_int) function duplicate_in_c(comm) bind(C)
      import
      integer(c_int), value :: comm
    end function
    integer(c_int) function every_other_in_c(number) bind(C)
      import
      integer(c_int), value :: number
    end function
    integer(c_int) function operator_in_c() bind(C)
      import
    end function
    integer(c_int) function receive_in_c(buf, number, source, tag, comm) bind(C)
      import
#ifdef F08
      asynchronous :: buf
#endif
      integer(c_int) :: buf(*)
      integer(c_int), value :: number, source, tag, comm
    end function
    subroutine wait_in_c(request, status) bind(C)
      import
      integer(c_int) :: request, status(*)
    end subroutine
    integer(c_int) function tag_in_c(status, number) bind(C)
      import
      integer(c_int) :: status(*), number
    end function
    integer(c_int) function keyval_in_c() bind(C)
      import
    end function
    integer(c_intptr_t) function attribute_in_c(comm, keyval) bind(C)
      import
      integer(c_int), value :: comm, keyval
    end function
    integer(c_intptr_t) function set_attribute_in_c(comm, keyval) bind(C)
      import
      integer(c_int), value :: comm, keyval
    end function
    integer(c_int) function constants_in_c(comm, group, type, op, request, info, errhandler, win, message) bind(C)
      import
      integer(c_int), value :: comm, group, type, op, request, info, errhandler, win, message
    end function
  end interface
  integer :: rank, size, right, left, ierror, number, plain(MPI_STATUS_SIZE), total, keyval
  integer(MPI_ADDRESS_KIND) :: attribute, address
  logical :: flag
#ifdef F08
  integer, asynchronous :: out(6), in(6)
#else
  integer :: out(6), in(6)
#endif
  COMM :: comm, other
  DATATYPE :: type
  OP :: op
  REQUEST :: request
  STATUS(status)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  call check(constants_in_c(PLAIN(MPI_COMM_SELF), PLAIN(MPI_GROUP_EMPTY), PLAIN(MPI_DOUBLE_PRECISION), &
    PLAIN(MPI_MAXLOC), PLAIN(MPI_REQUEST_NULL), PLAIN(MPI_INFO_ENV), PLAIN(MPI_ERRORS_RETURN), &
    PLAIN(MPI_WIN_NULL), PLAIN(MPI_MESSAGE_NO_PROC)) == 1, 'constants')

  ! A communicator of Fortran's in C, and of C's in Fortran.
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierror)
  call check(rank_in_c(PLAIN(comm)) == size - 1 - rank, 'the rank in C')
  call MPI_Comm_free(comm, ierror)
  PLAIN(comm) = duplicate_in_c(PLAIN(MPI_COMM_WORLD))
  call MPI_Comm_rank(comm, number, ierror)
  call check(number == rank .and. rank_in_c(PLAIN(comm)) == rank, 'a communicator of C')

  ! Attributes that one language has set in the other, and a copy callback in C.
  keyval = keyval_in_c()
  call MPI_Comm_set_attr(comm, keyval, -5_MPI_ADDRESS_KIND, ierror)
  call check(attribute_in_c(PLAIN(comm), keyval) == -5, 'an attribute of Fortran in C')
  call MPI_Comm_get_attr(comm, keyval, attribute, flag, ierror)
  call check(flag .and. attribute == -5, 'an attribute of Fortran')
  call MPI_Comm_dup(comm, other, ierror)
  call check(attribute_in_c(PLAIN(other), keyval) == -4, 'a copy that C has made')
  call MPI_Comm_free(other, ierror)
  address = set_attribute_in_c(PLAIN(comm), keyval)
  call MPI_Comm_get_attr(comm, keyval, attribute, flag, ierror)
  call check(flag .and. attribute == address, 'an attribute of C')
  call MPI_Comm_free_keyval(keyval, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(comm, keyval, 1_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(comm, other, ierror)
  call MPI_Comm_set_attr(comm, keyval, 2_MPI_ADDRESS_KIND, ierror)
  call check(attribute_in_c(PLAIN(comm), keyval) == 2, 'an attribute that was replaced')
  call check(attribute_in_c(PLAIN(other), keyval) == 1, 'a copy that Fortran has made')
  call MPI_Comm_free_keyval(keyval, ierror)
  call MPI_Comm_free(other, ierror)

  ! A datatype of C's, and a request of each language that the other one completes.
  PLAIN(type) = every_other_in_c(3)
  out = [1, 2, 3, 4, 5, 6] + 10 * rank
  PLAIN(request) = receive_in_c(in, 3, left, 1, PLAIN(comm))
  call MPI_Send(out, 1, type, right, 1, comm, ierror)
  call MPI_Wait(request, status, ierror)
  call check(request == MPI_REQUEST_NULL .and. all(in(1:3) == [1, 3, 5] + 10 * left), 'a receive of C')
#ifdef F08
  call MPI_Status_f082f(status, plain)
#else
  plain = status
#endif
  call check(tag_in_c(plain, number) == 1 .and. number == 3, 'a status in C')
  in = 0
  call MPI_Irecv(in, 1, type, left, 2, comm, request, ierror)
  call MPI_Send(out, 3, MPI_INTEGER, right, 2, comm, ierror)
  call wait_in_c(PLAIN(request), plain)
  call check(request == MPI_REQUEST_NULL .and. all(in(1:5:2) == [1, 2, 3] + 10 * left), 'a receive of Fortran')
  call check(plain(MPI_SOURCE) == left .and. plain(MPI_TAG) == 2, 'a status of C')
  call MPI_Type_free(type, ierror)

  PLAIN(op) = operator_in_c()
  call MPI_Reduce(1, total, 1, MPI_INTEGER, op, 0, comm, ierror)
  if (rank == 0) call check(total >= size, 'an operator of C')
  call MPI_Op_free(op, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program mixed
