! What a run is about: words NAME=VALUE of the command line.
module parameters
  implicit none
  private
  public :: run_parameters, read_parameters

  type :: run_parameters
    integer :: nx = 32, ny = 16, nz = 16      ! cells
    integer :: npey = 0, npez = 0             ! processes along y and z; 0: MPI chooses
    integer :: nang = 16                      ! angles in an octant
    integer :: ng = 8                         ! energy groups
    integer :: ichunk = 4                     ! cells along x between two messages
    integer :: nsteps = 2                     ! sets of inner iterations ("time steps")
    integer :: iitm = 5                       ! inner iterations, at most
    double precision :: lx = 0.08d0, ly = 0.08d0, lz = 0.08d0
    double precision :: epsi = 1.0d-4         ! change of the flux at which they end
    logical :: shared = .false.               ! all threads use one communicator
    logical :: json = .false.                 ! the report is a line of JSON
  end type run_parameters

contains

  ! Reads the command line; `problem` is blank, or says what is wrong.
  subroutine read_parameters(run, problem)
    type(run_parameters), intent(inout) :: run
    character(len=*), intent(out) :: problem
    character(len=64) :: word, name, value
    integer :: i, equals, status
    problem = ' '
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      equals = index(word, '=')
      if (equals < 2) then
        problem = trim(word) // ': expected NAME=VALUE, such as nx=32'
        return
      end if
      name = word(:equals - 1)
      value = word(equals + 1:)
      status = 0
      select case (name)
      case ('nx'); read (value, *, iostat=status) run%nx
      case ('ny'); read (value, *, iostat=status) run%ny
      case ('nz'); read (value, *, iostat=status) run%nz
      case ('npey'); read (value, *, iostat=status) run%npey
      case ('npez'); read (value, *, iostat=status) run%npez
      case ('nang'); read (value, *, iostat=status) run%nang
      case ('ng'); read (value, *, iostat=status) run%ng
      case ('ichunk'); read (value, *, iostat=status) run%ichunk
      case ('nsteps'); read (value, *, iostat=status) run%nsteps
      case ('iitm'); read (value, *, iostat=status) run%iitm
      case ('epsi'); read (value, *, iostat=status) run%epsi
      case ('comms')
        if (value /= 'shared' .and. value /= 'per-thread') status = 1
        run%shared = value == 'shared'
      case ('report')
        if (value /= 'text' .and. value /= 'json') status = 1
        run%json = value == 'json'
      case default
        problem = trim(name) // &
          ': the names are nx, ny, nz, npey, npez, nang, ng, ichunk, nsteps, iitm, epsi, comms, report'
        return
      end select
      if (status /= 0) then
        problem = trim(word) // ': not a value of ' // trim(name)
        return
      end if
    end do
    if (min(run%nx, run%ny, run%nz, run%nang, run%ng, run%ichunk, run%nsteps, run%iitm) < 1) then
      problem = 'sizes and counts are at least 1'
    else if (mod(run%nx, run%ichunk) /= 0) then
      problem = 'nx has to be a multiple of ichunk'
    end if
  end subroutine read_parameters

end module parameters
