! Threads: OpenMP threads that send, receive and reduce at the same time. Without OpenMP one thread does their work in turn.
program threads
#include "form.h"
  integer, parameter :: THREADS_USED = 4, ROUNDS = 50
  integer :: rank, size, left, right, ierror, provided, found, thread, round, mains, wrongs
  integer :: given(2), got(2), total
  COMM :: comms(THREADS_USED)
  REQUEST :: requests(2)
  STATUS(status)
  logical :: flag

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  call check(provided == MPI_THREAD_MULTIPLE, 'MPI_Init_thread')
  call MPI_Query_thread(found, ierror)
  call check(found == provided, 'MPI_Query_thread')
  call MPI_Is_thread_main(flag, ierror)
  call check(flag, 'MPI_Is_thread_main')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  do thread = 1, THREADS_USED
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(thread), ierror)
  end do

  ! One thread of the team is the main one.
  mains = 0
  !$omp parallel num_threads(THREADS_USED) private(flag, ierror) reduction(+: mains)
  call MPI_Is_thread_main(flag, ierror)
  if (flag) mains = mains + 1
  !$omp end parallel
  call check(mains == 1, 'the number of main threads')

  ! Every thread has a tag of its own in one communicator.
  wrongs = 0
  !$omp parallel do num_threads(THREADS_USED) schedule(static, 1) private(round, given, got, requests, status, ierror) &
  !$omp reduction(+: wrongs)
  do thread = 1, THREADS_USED
    do round = 1, ROUNDS
      given = 1000 * thread + 10 * round + [rank, 0]
      got = -1
      call MPI_Irecv(got, 2, MPI_INTEGER, left, thread, MPI_COMM_WORLD, requests(1), ierror)
      call MPI_Isend(given, 2, MPI_INTEGER, right, thread, MPI_COMM_WORLD, requests(2), ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      if (any(got /= 1000 * thread + 10 * round + [left, 0])) wrongs = wrongs + 1
      call MPI_Sendrecv(given, 2, MPI_INTEGER, left, thread, got, 2, MPI_INTEGER, right, thread, MPI_COMM_WORLD, status, ierror)
      if (any(got /= 1000 * thread + 10 * round + [right, 0]) .or. TAG(status) /= thread) wrongs = wrongs + 1
    end do
  end do
  !$omp end parallel do
  call check(wrongs == 0, 'messages of threads with tags of their own')

  ! Every thread has a communicator of its own, with collective operations.
  !$omp parallel do num_threads(THREADS_USED) schedule(static, 1) private(round, given, got, total, ierror) &
  !$omp reduction(+: wrongs)
  do thread = 1, THREADS_USED
    do round = 1, ROUNDS
      call MPI_Allreduce(rank + thread, total, 1, MPI_INTEGER, MPI_SUM, comms(thread), ierror)
      if (total /= size * (size - 1) / 2 + size * thread) wrongs = wrongs + 1
      given = 100 * thread + round
      got = merge(given, -1, rank == 0)
      call MPI_Bcast(got, 2, MPI_INTEGER, 0, comms(thread), ierror)
      if (any(got /= given)) wrongs = wrongs + 1
    end do
  end do
  !$omp end parallel do
  call check(wrongs == 0, 'collective operations of threads')
  do thread = 1, THREADS_USED
    call MPI_Comm_free(comms(thread), ierror)
  end do
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program threads
