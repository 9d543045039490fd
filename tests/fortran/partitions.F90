! Partitioned communication: a message in parts, which become ready one by one, in ranges and in lists.
program partitions
#include "form.h"
  integer, parameter :: PARTS = 6
  integer(kind=MPI_COUNT_KIND), parameter :: IN_PART = 10, IN_PART_THERE = 20
  integer :: rank, size, left, right, ierror, i, repetition
  double precision :: out(60), in(60)
  REQUEST :: requests(2)
  logical :: flag
#ifdef F08
  asynchronous :: in, out
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)

  ! The receiver has three parts of 20 elements for the six of 10 that the sender has.
  call MPI_Psend_init(out, PARTS, IN_PART, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierror)
  call MPI_Precv_init(in, PARTS / 2, IN_PART_THERE, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(2), ierror)
  do repetition = 1, 3
    in = -1
    out = -2
    call MPI_Startall(2, requests, ierror)
    select case (repetition)
    case (1)
      do i = 0, PARTS - 1
        call fill(i)
        call MPI_Pready(i, requests(1), ierror)
      end do
    case (2)
      call fill(4)
      call fill(1)
      call fill(5)
      call MPI_Pready_list(3, [4, 1, 5], requests(1), ierror)
      call fill(0)
      call MPI_Pready(0, requests(1), ierror)
      call fill(2)
      call fill(3)
      call MPI_Pready_range(2, 3, requests(1), ierror)
    case (3)
      do i = 0, PARTS - 1
        call fill(i)
      end do
      call MPI_Pready_range(0, PARTS - 1, requests(1), ierror)
    end select
    ! Every part arrives, though the sender does not wait for its request.
    do i = 0, PARTS / 2 - 1
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(requests(2), i, flag, ierror)
      end do
      call check(all(in(20 * i + 1:20 * i + 20) == expected(20 * i + 1, 20 * i + 20)), 'a part')
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call check(all(in == expected(1, 60)), 'all parts')
  end do
  call MPI_Parrived(requests(2), 0, flag, ierror)
  call check(flag, 'MPI_Parrived of a request that is not started')
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call check(requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL, 'MPI_Request_free')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
  subroutine fill(part)
    integer, intent(in) :: part
    integer :: k
    out(10 * part + 1:10 * part + 10) = [(dble(1000 * repetition + 100 * rank + k), k = 10 * part + 1, 10 * part + 10)]
  end subroutine fill
  function expected(first, last)
    integer, intent(in) :: first, last
    double precision :: expected(last - first + 1)
    integer :: k
    expected = [(dble(1000 * repetition + 100 * left + k), k = first, last)]
  end function expected
end program partitions
