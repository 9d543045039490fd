! Requests and statuses: tests of several requests, a look at them that does not free them, cancelling, and a status's parts.
program requests
#include "form.h"
  integer :: rank, size, left, right, ierror, i, position, number, found, positions(3), got(3)
  integer(kind=MPI_COUNT_KIND) :: elements
  REQUEST :: receives(3), request
  STATUS(status)
  STATUSES(statuses, 3)
  DATATYPE :: pair
  logical :: flag
#ifdef F08
  integer(kind=MPI_COUNT_KIND) :: large
  asynchronous :: got
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)

  do i = 1, 3
    call MPI_Irecv(got(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, receives(i), ierror)
  end do
  call MPI_Request_get_status(receives(1), flag, status, ierror)
  call check(.not. flag, 'MPI_Request_get_status before the message')
  call MPI_Request_get_status_any(3, receives, position, flag, status, ierror)
  call check(.not. flag, 'MPI_Request_get_status_any before the messages')
  call MPI_Request_get_status_some(3, receives, number, positions, statuses, ierror)
  call check(number == 0, 'MPI_Request_get_status_some before the messages')
  call MPI_Testsome(3, receives, number, positions, statuses, ierror)
  call check(number == 0, 'MPI_Testsome before the messages')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(102, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status_any(3, receives, position, flag, status, ierror)
  end do
  call check(position == 2 .and. TAG(status) == 2 .and. receives(2) /= MPI_REQUEST_NULL, 'MPI_Request_get_status_any')
  call MPI_Request_get_status_some(3, receives, number, positions, statuses, ierror)
  call check(number == 1 .and. positions(1) == 2 .and. TAG_AT(statuses, 1) == 2, 'MPI_Request_get_status_some')
  call MPI_Request_get_status_all(3, receives, flag, statuses, ierror)
  call check(.not. flag, 'MPI_Request_get_status_all before the other messages')
  call MPI_Request_get_status(receives(2), flag, status, ierror)
  call check(flag .and. SOURCE(status) == left .and. got(2) == 102, 'MPI_Request_get_status')
  call MPI_Testsome(3, receives, number, positions, statuses, ierror)
  call check(number == 1 .and. positions(1) == 2 .and. receives(2) == MPI_REQUEST_NULL, 'MPI_Testsome')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(101, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
  call MPI_Send(103, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status_all(3, receives, flag, statuses, ierror)
  end do
  call check(TAG_AT(statuses, 1) == 1 .and. TAG_AT(statuses, 3) == 3, 'MPI_Request_get_status_all')
  call MPI_Testall(3, receives, flag, statuses, ierror)
  call check(flag .and. all(got == [101, 102, 103]), 'MPI_Testall')
  call MPI_Testsome(3, receives, number, positions, statuses, ierror)
  call check(number == MPI_UNDEFINED, 'MPI_Testsome without requests')
  call MPI_Request_get_status(MPI_REQUEST_NULL, flag, status, ierror)
  call check(flag .and. SOURCE(status) == MPI_ANY_SOURCE .and. TAG(status) == MPI_ANY_TAG, 'the empty status')

  ! A receive that finds no message can be cancelled.
  call MPI_Irecv(got, 3, MPI_INTEGER, left, 9, MPI_COMM_WORLD, request, ierror)
  call MPI_Cancel(request, ierror)
  call MPI_Wait(request, status, ierror)
  call MPI_Test_cancelled(status, flag, ierror)
  call check(flag .and. request == MPI_REQUEST_NULL, 'MPI_Test_cancelled')

  ! Three integers are one pair and a half.
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
  call MPI_Type_commit(pair, ierror)
  got = rank
  call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, right, 4, got, 2, pair, left, 4, MPI_COMM_WORLD, status, ierror)
  call MPI_Test_cancelled(status, flag, ierror)
  call check(.not. flag .and. all(got == [1, 2, 3]), 'a pair and a half')
  call MPI_Get_count(status, pair, number, ierror)
  call check(number == MPI_UNDEFINED, 'MPI_Get_count of it')
  call MPI_Get_elements(status, pair, number, ierror)
  call check(number == 3, 'MPI_Get_elements')
  call MPI_Get_elements_x(status, pair, elements, ierror)
  call check(elements == 3, 'MPI_Get_elements_x')
#ifdef F08
  call MPI_Get_elements(status, pair, large, ierror)
  call check(large == 3, 'MPI_Get_elements with a large count')
#endif

  ! A status's parts, read and set.
  call MPI_Status_get_source(status, found, ierror)
  call check(found == left, 'MPI_Status_get_source')
  call MPI_Status_get_tag(status, found, ierror)
  call check(found == 4, 'MPI_Status_get_tag')
  call MPI_Status_set_source(status, 17, ierror)
  call MPI_Status_set_tag(status, 18, ierror)
  call MPI_Status_set_error(status, MPI_ERR_OTHER, ierror)
  call check(SOURCE(status) == 17 .and. TAG(status) == 18, 'MPI_Status_set_source, MPI_Status_set_tag')
  call MPI_Status_get_error(status, found, ierror)
  call check(found == MPI_ERR_OTHER, 'MPI_Status_get_error')
  call MPI_Status_set_elements(status, pair, 5, ierror)
  call MPI_Get_elements(status, pair, number, ierror)
  call MPI_Get_count(status, pair, found, ierror)
  call check(number == 5 .and. found == MPI_UNDEFINED, 'MPI_Status_set_elements')
  elements = 2_MPI_COUNT_KIND**33
  call MPI_Status_set_elements_x(status, pair, elements, ierror)
  elements = 0
  call MPI_Get_elements_x(status, pair, elements, ierror)
  call check(elements == 2_MPI_COUNT_KIND**33, 'MPI_Status_set_elements_x')
  call MPI_Get_elements(status, pair, number, ierror)
  call check(number == MPI_UNDEFINED, 'a number that is too large for MPI_Get_elements')
#ifdef F08
  call MPI_Status_set_elements(status, pair, 2_MPI_COUNT_KIND**34, ierror)
  call MPI_Get_count(status, pair, large, ierror)
  call check(large == 2_MPI_COUNT_KIND**33, 'MPI_Get_count with a large count')
#endif
  call MPI_Status_set_cancelled(status, .true., ierror)
  call MPI_Test_cancelled(status, flag, ierror)
  call check(flag, 'MPI_Status_set_cancelled')
  call MPI_Type_free(pair, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program requests
