! Usage: relinked [N [PICTURE.svg]]
!
! A program that was written for L-BFGS-B 3.0: a rope of N points, 1000 by default, pulled taut over a hill and under a
! ceiling. Its loop around setulb stays as it is; only what it is linked with changes:
!
!     gfortran -O2 relinked.f90 -llbfgsb -o relinked                                           what it was
!     gfortran -O2 relinked.f90 $(pkg-config --libs cuda_opt_setulb) -o relinked && ./relinked 1000 rope.svg
program relinked
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, parameter :: dp = kind(1d0), m = 10
  integer :: n = 1000, i, iterations = 0
  character(len=60) :: task, csave
  character(len=200) :: argument
  logical :: lsave(4)
  integer :: isave(44)
  real(dp) :: f, dsave(29), t
  integer, allocatable :: nbd(:), iwa(:)
  real(dp), allocatable :: x(:), l(:), u(:), g(:), wa(:)
  external :: setulb

  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *, iostat=i) n
    if (i /= 0 .or. n < 1) then
      write (error_unit, '(a)') 'relinked: N has to be a number of at least 1'
      stop 2
    end if
  end if
  allocate (nbd(n), iwa(3 * n), x(n), l(n), u(n), g(n), wa(2 * m * n + 5 * n + 11 * m * m + 8 * m))
  do i = 1, n
    t = real(i, dp) / (n + 1) - 0.5_dp
    l(i) = 1 - 16 * t**2
    u(i) = merge(max(l(i), 0.45_dp), 2.0_dp, t > 0.2_dp)
  end do
  nbd = 2
  x = 0

  task = 'START'
  do
    call setulb(n, m, x, l, u, nbd, f, g, 0d0, 1d-6, wa, iwa, task, -1, csave, lsave, isave, dsave)
    if (task(1:2) == 'FG') then
      call energy(x, f, g)
    else if (task(1:5) == 'NEW_X') then
      iterations = iterations + 1
    else
      exit
    end if
  end do
  print '(a)', trim(task)
  print '(a, f14.9, a, i0, a)', 'f = ', f, ' after ', iterations, ' iterations'
  if (task(1:4) /= 'CONV') stop 1
  if (command_argument_count() > 1) then
    call get_command_argument(2, argument)
    call draw(trim(argument))
  end if

contains

  ! (n + 1)/2 times the sum of the squared rises, 0 at both ends.
  subroutine energy(x, f, g)
    real(dp), intent(in) :: x(:)
    real(dp), intent(out) :: f, g(:)
    real(dp) :: rise(size(x) + 1)
    rise(1) = x(1)
    rise(2:size(x)) = x(2:) - x(:size(x) - 1)
    rise(size(x) + 1) = -x(size(x))
    f = (size(x) + 1) / 2d0 * sum(rise**2)
    g = (size(x) + 1) * (rise(:size(x)) - rise(2:))
  end subroutine energy

  subroutine draw(path)
    character(len=*), intent(in) :: path
    integer :: file
    open (newunit=file, file=path, action='write', status='replace')
    write (file, '(a)') "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 840 320' font-family='sans-serif'>", &
      "<rect width='840' height='320' fill='white'/>"
    call area(file, '#bbb', l, 300d0)
    call area(file, '#888', max(min(u, 1.2_dp), l), 60d0)
    write (file, '(a)') "<polyline fill='none' stroke='#c0392b' stroke-width='2' points='"
    write (file, '(2(f8.2, 1x))') (20 + 800d0 * i / (n + 1), 300 - 200 * x(i), i = 1, n)
    write (file, '(a)') "'/>", "<text x='20' y='316'>a rope over a hill (light) and under a ceiling (dark)</text>", &
      "</svg>"
    close (file)
  end subroutine draw

  ! Between the curve y and the height `edge` of the picture.
  subroutine area(file, colour, y, edge)
    integer, intent(in) :: file
    character(len=*), intent(in) :: colour
    real(dp), intent(in) :: y(:), edge
    write (file, '(3a)') "<polygon fill='", colour, "' points='"
    write (file, '(2(f8.2, 1x))') (20 + 800d0 * i / (n + 1), min(300d0, 300 - 200 * y(i)), i = 1, n)
    write (file, '(4(f8.2, 1x), a)') 820d0, edge, 20d0, edge, "'/>"
  end subroutine area
end program relinked
