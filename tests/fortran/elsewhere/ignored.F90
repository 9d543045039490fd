! Statuses that Fortran ignores, as C sees them.
program ignored
  implicit none
  include 'mpif.h'
  integer :: ierror, rank
  integer, external :: are_ignored
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (are_ignored(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE) == 0) error stop 'C knows other addresses'
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
end program
