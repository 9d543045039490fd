! A discrete-ordinates transport sweep: threads solve energy groups, and each of them exchanges the faces of its own groups.
program sweep
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use mpi_f08
  use omp_lib, only: omp_get_max_threads
  use decomposition, only: decompose, part
  use group, only: sweep_group
  use parameters, only: read_parameters, run_parameters
  use transport, only: angles, fixed_source, make_angles, scattering, total
  implicit none
  type(run_parameters) :: run
  type(part) :: own
  type(angles) :: octant
  ! The communicator of each thread, or one for all.
  type(MPI_Comm), allocatable :: comms(:)
  ! By cell and group: the flux, that of the iteration before, the source, and its part that does not depend on the flux.
  double precision, allocatable, dimension(:, :, :, :) :: flux, previous, source, fixed
  ! By group: the particles that leave the domain, and the seconds in MPI.
  double precision, allocatable :: leakage(:), in_mpi(:)
  double precision :: seconds, seconds_in_mpi = 0, worst_balance = 0
  integer :: provided, threads, iterations = 0
  character(len=200) :: problem

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  if (provided < MPI_THREAD_MULTIPLE) call stop_with('the MPI library has no MPI_THREAD_MULTIPLE')
  call read_parameters(run, problem)
  if (problem /= ' ') call stop_with(problem)
  call decompose(run, own, problem)
  if (problem /= ' ') call stop_with(problem)
  threads = min(omp_get_max_threads(), run%ng)
  call set_up()
  call solve()
  call report()
  call finish()

contains

  subroutine set_up()
    integer :: i, j, k, g
    allocate (comms(0:merge(0, threads - 1, run%shared)))
    do i = 0, ubound(comms, 1)
      call MPI_Comm_dup(own%grid, comms(i))
    end do
    call make_angles(run%nang, octant)
    allocate (fixed(run%nx, own%ny, own%nz, run%ng), leakage(run%ng), in_mpi(run%ng))
    allocate (flux, previous, source, mold=fixed)
    do g = 1, run%ng
      do k = 1, own%nz
        do j = 1, own%ny
          do i = 1, run%nx
            fixed(i, j, k, g) = fixed_source(g, (i - 0.5d0) / run%nx, (own%y0 + j - 0.5d0) / run%ny, &
              (own%z0 + k - 0.5d0) / run%nz)
          end do
        end do
      end do
    end do
    flux = 0
  end subroutine set_up

  ! Sets of iterations with a stronger source each.
  subroutine solve()
    double precision :: begin, change
    integer :: step, iteration
    call MPI_Barrier(own%grid)
    begin = MPI_Wtime()
    do step = 1, run%nsteps
      do iteration = 1, run%iitm
        iterations = iterations + 1
        previous = flux
        call sweep_groups(1 + 0.1d0 * step)
        worst_balance = max(worst_balance, balance())
        change = maxval(abs(flux - previous) / max(abs(flux), 1d-30))
        call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, own%grid)
        if (change < run%epsi) exit
      end do
      if (own%rank == 0) print '(a,i0,a,i0,a,i0,a,es8.1)', 'step ', step, ' of ', run%nsteps, ': ', &
        min(iteration, run%iitm), ' iterations, change ', change
    end do
    seconds = MPI_Wtime() - begin
  end subroutine solve

  ! Computes the flux of all groups from that of the iteration before.
  subroutine sweep_groups(strength)
    double precision, intent(in) :: strength
    integer :: g, from
    !$omp parallel do num_threads(threads) schedule(static, 1) private(from)
    do g = 1, run%ng
      source(:, :, :, g) = strength * fixed(:, :, :, g)
      do from = max(1, g - 1), g
        source(:, :, :, g) = source(:, :, :, g) + scattering(from, g) * previous(:, :, :, from)
      end do
      call sweep_group(run, own, comms(mod(g - 1, size(comms))), octant, g, source(:, :, :, g), flux(:, :, :, g), &
        leakage(g), in_mpi(g))
    end do
    !$omp end parallel do
    seconds_in_mpi = seconds_in_mpi + sum(in_mpi)
  end subroutine sweep_groups

  ! The largest part of a group's particles that are neither absorbed nor leave the domain.
  double precision function balance()
    double precision :: sums(3), volume
    integer :: g
    volume = run%lx * run%ly * run%lz / (dble(run%nx) * run%ny * run%nz)
    balance = 0
    do g = 1, run%ng
      sums = [volume * sum(source(:, :, :, g)), volume * total(g) * sum(flux(:, :, :, g)), leakage(g)]
      call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, own%grid)
      balance = max(balance, abs(sums(1) - sums(2) - sums(3)) / max(abs(sums(1)), tiny(1d0)))
    end do
  end function balance

  ! A number made of the bits of the flux in all cells: the same for any number of processes and threads.
  integer(int64) function checksum()
    integer :: i, j, k, g
    integer(int64) :: bits
    checksum = 0
    do g = 1, run%ng
      do k = 1, own%nz
        do j = 1, own%ny
          do i = 1, run%nx
            bits = transfer(flux(i, j, k, g), bits)
            checksum = ieor(checksum, ishftc(bits, mod(g + i + 3 * (own%y0 + j) + 7 * (own%z0 + k), 64)))
          end do
        end do
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, checksum, 1, MPI_INTEGER8, MPI_BXOR, own%grid)
  end function checksum

  subroutine report()
    double precision :: updates, grind_time, share
    integer(int64) :: bits
    character(len=10) :: communicators
    bits = checksum()
    call MPI_Allreduce(MPI_IN_PLACE, seconds_in_mpi, 1, MPI_DOUBLE_PRECISION, MPI_SUM, own%grid)
    updates = dble(run%nx) * run%ny * run%nz * run%nang * 8 * run%ng * iterations
    grind_time = 1d9 * seconds / updates
    share = seconds_in_mpi / (seconds * own%size * threads)
    communicators = merge('shared    ', 'per-thread', run%shared)
    if (own%rank == 0 .and. run%json) then
      print '(4a,3(a,i0),3(a,es12.5),a)', '{"library": "', library(), '", "comms": "', trim(communicators), &
        '", "ranks": ', own%size, ', "threads": ', threads, ', "face_bytes": ', face_bytes(), ', "seconds": ', seconds, &
        ', "grind_ns": ', grind_time, ', "mpi_time_share": ', share, '}'
    else if (own%rank == 0) then
      print '(a,i0,a,i0,a,i0,a,i0,2a)', 'processes ', own%size, ' (', run%npey, ' x ', run%npez, '), threads ', threads, &
        ', communicators ', trim(communicators)
      print '(a,f9.4,a,f8.2,a,f5.1,a)', 'time', seconds, ' s, grind time', grind_time, ' ns, in MPI', 100 * share, ' %'
      print '(a,z16.16,a,es8.1)', 'checksum ', bits, ', balance within', worst_balance
    end if
    if (worst_balance > 1d-10) call stop_with('the particles do not balance: the result is wrong')
  end subroutine report

  ! The first line of the library's version, without characters that JSON escapes.
  function library()
    character(len=:), allocatable :: library
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
    integer :: length, i
    call MPI_Get_library_version(text, length)
    do i = 1, length
      if (iachar(text(i:i)) < 32) exit
      if (text(i:i) == '"' .or. text(i:i) == '\') text(i:i) = ' '
    end do
    library = trim(text(:i - 1))
  end function library

  ! Bytes of the larger message of a chunk.
  integer function face_bytes()
    face_bytes = storage_size(seconds) / 8 * run%nang * run%ichunk * max(own%ny, own%nz)
  end function face_bytes

  subroutine finish()
    integer :: i
    do i = 0, ubound(comms, 1)
      call MPI_Comm_free(comms(i))
    end do
    call MPI_Comm_free(own%grid)
    call MPI_Finalize()
  end subroutine finish

  ! Ends all processes, which all call this, with a message. The others wait until process 0 has printed it.
  subroutine stop_with(message)
    character(len=*), intent(in) :: message
    integer :: rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank > 0) call MPI_Barrier(MPI_COMM_WORLD)
    write (error_unit, '(2a)') 'sweep: ', trim(message)
    call MPI_Abort(MPI_COMM_WORLD, 2)
  end subroutine stop_with

end program sweep
