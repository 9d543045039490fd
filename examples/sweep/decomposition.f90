! The processes: a grid along y and z, each with all cells along x (the decomposition of Koch, Baker and Alcouffe).
module decomposition
  use mpi_f08
  use parameters, only: run_parameters
  implicit none
  private
  public :: part, decompose

  type :: part
    type(MPI_Comm) :: grid
    integer :: rank, size
    integer :: ny, nz                ! cells of this process
    integer :: y0, z0                ! cells before them
    integer :: below(2), above(2)    ! neighbours along y and z, or MPI_PROC_NULL
  end type part

contains

  ! Makes the grid; `problem` is blank, or says what is wrong.
  subroutine decompose(run, own, problem)
    type(run_parameters), intent(inout) :: run
    type(part), intent(out) :: own
    character(len=*), intent(out) :: problem
    integer :: dims(2), coords(2)
    problem = ' '
    call MPI_Comm_size(MPI_COMM_WORLD, own%size)
    dims = [run%npey, run%npez]
    if (all(dims > 0) .and. product(dims) /= own%size) then
      write (problem, '(a,i0,a)') 'npey times npez is not the number of processes, ', own%size
      return
    else if (any(dims > 0)) then
      if (mod(own%size, max(1, maxval(dims))) /= 0) then
        problem = 'npey or npez does not divide the number of processes'
        return
      end if
    end if
    call MPI_Dims_create(own%size, 2, dims)
    run%npey = dims(1)
    run%npez = dims(2)
    if (run%npey > run%ny .or. run%npez > run%nz) then
      problem = 'there are more processes along y or z than cells'
      return
    end if
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., own%grid)
    call MPI_Comm_rank(own%grid, own%rank)
    call MPI_Cart_coords(own%grid, own%rank, 2, coords)
    call MPI_Cart_shift(own%grid, 0, 1, own%below(1), own%above(1))
    call MPI_Cart_shift(own%grid, 1, 1, own%below(2), own%above(2))
    call share(run%ny, run%npey, coords(1), own%y0, own%ny)
    call share(run%nz, run%npez, coords(2), own%z0, own%nz)
  end subroutine decompose

  pure subroutine share(cells, parts, index, before, count)
    integer, intent(in) :: cells, parts, index
    integer, intent(out) :: before, count
    before = cells * index / parts
    count = cells * (index + 1) / parts - before
  end subroutine share

end module decomposition
