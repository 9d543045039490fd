! Statuses that Fortran ignores: C sees them at the same addresses, and no call changes the variables behind them.
program ignored
  implicit none
  include 'mpif.h'
  integer :: ierror, rank, i, requests(2), got(2), status(MPI_STATUS_SIZE)
  integer, external :: are_ignored
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (are_ignored(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE) == 0) error stop 'C knows other addresses'
  MPI_STATUS_IGNORE(MPI_TAG) = 77
  MPI_STATUSES_IGNORE(MPI_TAG, 1) = 78
  do i = 1, 2
    call MPI_Irecv(got(i), 1, MPI_INTEGER, 0, i, MPI_COMM_SELF, requests(i), ierror)
  end do
  call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
  call MPI_Send(rank, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 3, got, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
  if (MPI_STATUS_IGNORE(MPI_TAG) /= 77) error stop 'MPI_STATUS_IGNORE was taken for a status'
  if (MPI_STATUSES_IGNORE(MPI_TAG, 1) /= 78) error stop 'MPI_STATUSES_IGNORE was taken for an array'
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 4, got, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, status, ierror)
  if (status(MPI_TAG) /= 4) error stop 'a status was ignored'
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
end program
