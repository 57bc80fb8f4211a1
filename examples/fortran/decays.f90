! Usage: decays [CURVES [PICTURE.svg]]
!
! As many bounded curve fits at once, 10,000 by default. Of each curve 24 values have been measured, with noise, and
!
!     s(t) = amplitude exp(-rate t) + offset,   0 <= amplitude <= 2 max s,   0.1 <= rate <= 10,   0 <= offset <= max s,
!
! is fitted by least squares, where max s is the largest value of that curve: each has bounds of its own. Half of the
! curves were made without an offset; of these the bound keeps the fits from offsets that cannot be. A curve is a
! column of x, and only those whose fit has not ended are evaluated. The picture shows three of them.
!
!     gfortran -O2 $(pkg-config --variable=fortran_modules cuda_opt) decays.f90 $(pkg-config --libs cuda_opt) -o decays
!     ./decays 10000 decays.svg
program decays
    use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
    use, intrinsic :: iso_fortran_env, only: error_unit
    use cuda_opt
    use cuda_opt_arrays
    use cuda_opt_batches, only: CUDA_OPT_BATCH_CODE
    implicit none

    integer, parameter :: dp = c_double, variables = 3, values = 24
    real(dp), parameter :: noise = 0.02_dp
    integer :: curves = 10000, task, k, p, status
    real(dp) :: t(values)
    real(dp), allocatable :: truth(:, :), s(:, :), x(:, :), f(:), g(:, :), lower(:, :), upper(:, :)
    integer(c_int64_t), allocatable :: active(:), codes(:)
    character(200) :: argument
    type(batch_minimiser) :: fits

    if (command_argument_count() > 0) then
        call get_command_argument(1, argument)
        read (argument, *, iostat=status) curves
        if (status /= 0 .or. curves < 1) then
            write (error_unit, '(a)') 'decays: CURVES has to be a number of at least 1'
            stop 2
        end if
    end if
    allocate (truth(variables, curves), s(values, curves), f(curves), codes(curves))
    allocate (x(variables, curves), g(variables, curves), lower(variables, curves), upper(variables, curves))
    t = [(k/8._dp, k=0, values - 1)]
    call measure()

    lower = 0
    lower(2, :) = 0.1_dp
    upper(1, :) = 2*maxval(s, 1)
    upper(2, :) = 10
    upper(3, :) = maxval(s, 1)
    x(1, :) = maxval(s, 1)
    x(2, :) = 1
    x(3, :) = 0

    task = fits%create(x, m=5)
    if (task == 0) task = fits%set_bounds(lower, upper)
    if (task == 0) task = fits%set(CUDA_OPT_PGTOL, 1e-6_dp)
    do while (task >= 0)
        task = fits%solve(x, f, g)
        if (task /= CUDA_OPT_EVALUATE_BATCH) exit
        active = fits%active()
        do k = 1, size(active)
            call misfit(x(:, active(k)), s(:, active(k)), f(active(k)), g(:, active(k)))
        end do
    end do
    print '(a)', fits%message()
    if (fits%get(CUDA_OPT_BATCH_CODE, codes) /= 0) stop 1
    print '(i0, a, i0, a, i0, a)', curves, ' curves, ', count(codes == CUDA_OPT_CONVERGED), ' fits have converged, ', &
        count(abs(x(3, :)) <= 0), ' offsets are 0'
    print '(a, f6.4, a, f5.2, a)', 'rms residual ', noise*sqrt(2*sum(f)/size(s)), ', rates off by ', &
        100*sum(abs(x(2, :)/truth(2, :) - 1))/curves, ' % in the mean'
    if (command_argument_count() > 1) then
        call get_command_argument(2, argument)
        call draw(trim(argument))
    end if
    call fits%destroy()
    if (task /= CUDA_OPT_CONVERGED) stop 1

contains

    ! Half the squares of the residuals by the noise, and their gradient.
    subroutine misfit(x, s, f, g)
        real(dp), intent(in) :: x(:), s(:)
        real(dp), intent(out) :: f, g(:)
        real(dp) :: decay(values), residual(values)

        decay = exp(-x(2)*t)
        residual = (x(1)*decay + x(3) - s)/noise
        f = sum(residual**2)/2
        g(1) = sum(residual*decay)/noise
        g(2) = -x(1)*sum(residual*decay*t)/noise
        g(3) = sum(residual)/noise
    end subroutine

    ! Curves with rates from 0.5 to 4, and noise that is nearly normal: sums of four numbers from a generator.
    subroutine measure()
        integer(c_int64_t) :: seed
        integer :: draws

        seed = 1
        do p = 1, curves
            truth(:, p) = [0.5_dp + uniform(seed), 0.5_dp + 3.5_dp*uniform(seed), max(0._dp, uniform(seed) - 0.5_dp)]
            do k = 1, values
                s(k, p) = truth(1, p)*exp(-truth(2, p)*t(k)) + truth(3, p) &
                    + noise*sqrt(3._dp)*(sum([(uniform(seed), draws=1, 4)]) - 2)
            end do
        end do
    end subroutine

    ! In (0, 1): the generator of Park and Miller, whose products fit into 64 bits.
    real(dp) function uniform(seed)
        integer(c_int64_t), intent(inout) :: seed

        seed = modulo(16807*seed, 2147483647_c_int64_t)
        uniform = seed/2147483647._dp
    end function

    subroutine draw(path)
        character(*), intent(in) :: path
        character(*), parameter :: colours(3) = ['#c0392b', '#2471a3', '#1e8449']
        real(dp) :: time
        integer :: file, i

        open (newunit=file, file=path, action='write', status='replace')
        write (file, '(a)') "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 840 420' font-family='sans-serif' ", &
            "font-size='14'>", "<rect width='840' height='420' fill='white'/>"
        call draw_axes(file)
        do p = 1, min(3, curves)
            write (file, '(3a)') "<polyline fill='none' stroke='", colours(p), "' stroke-width='2' points='"
            do i = 0, 100
                time = t(values)*i/100
                write (file, '(2(f8.2, 1x))') across(time), up(x(1, p)*exp(-x(2, p)*time) + x(3, p))
            end do
            write (file, '(a)') "'/>"
            do k = 1, values
                write (file, '(a, f0.2, a, f0.2, 3a)') "<circle cx='", across(t(k)), "' cy='", up(s(k, p)), &
                    "' r='4' fill='", colours(p), "' fill-opacity='0.6'/>"
            end do
        end do
        write (file, '(a)') "<text x='70' y='22'>three decays: measured (dots) and fitted (lines)</text>", "</svg>"
        close (file)
    end subroutine

    subroutine draw_axes(file)
        integer, intent(in) :: file
        character(*), parameter :: middle = "' text-anchor='middle'>"
        integer :: i

        do i = 0, 3  ! lines across at multiples of 0.5
            write (file, '(a, f0.2, 3a, f0.2, a, f3.1, a)') "<path d='M70 ", up(0.5_dp*i), "H820' stroke='", &
                merge('#333', '#ddd', i == 0), "'/><text x='62' text-anchor='end' y='", up(0.5_dp*i) + 5, "'>", 0.5*i, &
                "</text>"
        end do
        do i = 0, int(2*t(values))
            write (file, '(a, f0.2, a, f0.2, 2a, f3.1, a)') "<path d='M", across(0.5_dp*i), &
                " 360v5' stroke='#333'/><text y='380' x='", across(0.5_dp*i), middle, "", 0.5*i, "</text>"
        end do
        write (file, '(a)') "<text x='445' y='406"//middle//"time t (s)</text>", &
            "<text transform='translate(24 200) rotate(-90)' text-anchor='middle'>signal s (arbitrary units)</text>"
    end subroutine

    real(dp) function across(time)
        real(dp), intent(in) :: time
        across = 70 + 750*time/t(values)
    end function

    real(dp) function up(height)
        real(dp), intent(in) :: height
        up = 360 - 190*height
    end function

end program
