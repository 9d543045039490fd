  ! Ends the job if a condition does not hold.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) then
      print '(2a)', 'wrong: ', what
      error stop 1
    end if
  end subroutine check
