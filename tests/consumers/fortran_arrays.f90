! Compares the module cuda_opt_arrays with the module cuda_opt: the results are bitwise identical in both precisions.
! Arrays of a wrong shape are refused by name. A minimiser can be reused, and is freed at the end of its scope.
module problem
    use, intrinsic :: iso_c_binding
    use cuda_opt
    use cuda_opt_arrays
    implicit none

    integer, parameter :: n = 100
    integer :: failures = 0

    ! f = sum i (x_i - 1)^2 / 2 in [-1, 3/4]^n
    interface evaluate
        procedure :: evaluate_f64, evaluate_f32
    end interface

contains

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (.not. holds) print '(2a)', 'does not hold: ', what
        if (.not. holds) failures = failures + 1
    end subroutine

    subroutine evaluate_f64(x, f, g)
        real(c_double), intent(in) :: x(n)
        real(c_double), intent(out) :: f, g(n)
        integer :: i

        g = [(i*(x(i) - 1), i=1, n)]
        f = sum(g*(x - 1))/2
    end subroutine

    subroutine evaluate_f32(x, f, g)
        real(c_float), intent(in) :: x(n)
        real(c_double), intent(out) :: f
        real(c_float), intent(out) :: g(n)
        integer :: i

        g = [(i*(x(i) - 1), i=1, n)]
        f = sum(real(g, c_double)*(x - 1))/2
    end subroutine

    function by_addresses_f64() result(x)
        real(c_double), target :: x(n), g(n), f, lower(n), upper(n)
        type(c_ptr) :: s
        integer(c_int) :: task

        x = 0
        lower = -1
        upper = 0.75_c_double
        task = cuda_opt_create(s, int(n, c_int64_t), 5_c_int32_t, CUDA_OPT_BACKEND_HOST)
        task = cuda_opt_set_bounds(s, c_loc(lower), c_loc(upper))
        do while (cuda_opt_solve(s, c_loc(x), c_loc(f), c_loc(g)) > 0)
            call evaluate(x, f, g)
        end do
        call cuda_opt_destroy(s)
    end function

    function by_addresses_f32() result(x)
        real(c_float), target :: x(n), g(n), lower(n), upper(n)
        real(c_double), target :: f
        type(c_ptr) :: s
        integer(c_int) :: task

        x = 0
        lower = -1
        upper = 0.75_c_float
        task = cuda_opt_create_f32(s, int(n, c_int64_t), 5_c_int32_t, CUDA_OPT_BACKEND_HOST)
        task = cuda_opt_set_bounds_f32(s, c_loc(lower), c_loc(upper))
        do while (cuda_opt_solve_f32(s, c_loc(x), c_loc(f), c_loc(g)) > 0)
            call evaluate(x, f, g)
        end do
        call cuda_opt_destroy(s)
    end function

    subroutine check_double()
        type(minimiser) :: s
        real(c_double) :: x(n), g(n), f, eps
        integer(c_int) :: task, turn
        integer(c_int32_t) :: at_upper
        integer(c_int64_t) :: dimension

        call expect(s%set_bounds(0._c_double, 1._c_double) == CUDA_OPT_MISUSE, 'create() comes before bounds')
        call expect(s%solve(x, f, g) == CUDA_OPT_MISUSE, 'create() comes first')
        call expect(s%message() == 'create() comes first', 'the message names create()')
        do turn = 1, 2 ! a second handle in the same variable
            x = 0
            task = s%create(x, m=5)
            task = s%set_bounds(spread(-1._c_double, 1, n), spread(0.75_c_double, 1, n))
            do while (s%solve(x, f, g) > 0)
                call evaluate(x, f, g)
            end do
            call expect(all(abs(x - by_addresses_f64()) <= 0), 'double: the bits of the module cuda_opt')
        end do
        call expect(s%get(CUDA_OPT_UPPER_COUNT, at_upper) == 0, 'a result is returned')
        call expect(at_upper == n, 'all variables are at their upper bounds')
        call expect(s%get(CUDA_OPT_DIMENSION, dimension) == 0, 'a 64-bit result is returned')
        call expect(dimension == n, 'n is returned')

        ! The next solve with the same handle has other bounds, and its minimiser is in their interior.
        task = s%reset()
        task = s%set_bounds(spread(-1._c_double, 1, n), spread(2._c_double, 1, n))
        do while (s%solve(x, f, g) > 0)
            call evaluate(x, f, g)
        end do
        call expect(maxval(abs(x - 1)) < 1e-4_c_double, 'new bounds hold for the next solve')

        ! Bounds that are the same for all variables give the same bits as arrays.
        x = 0
        task = s%reset()
        call expect(s%set_bounds(0.75_c_double, -1._c_double) == CUDA_OPT_IMPROPER_INPUT, 'crossed bounds are refused')
        call expect(s%set_bounds(-1._c_double, 0.75_c_double) == 0, 'two numbers are accepted as bounds')
        do while (s%solve(x, f, g) > 0)
            call evaluate(x, f, g)
        end do
        call expect(all(abs(x - by_addresses_f64()) <= 0), 'double: bounds as numbers give the same bits')

        call expect(s%set(CUDA_OPT_EPS, 1e-3_c_double) == 0, 'a setting is accepted')
        call expect(s%get(CUDA_OPT_EPS, eps) == 0, 'a setting is returned')
        call expect(abs(eps - 1e-3_c_double) <= 0, 'the setting has the value that was set')
        call expect(s%set(CUDA_OPT_MAXFEV, 0) == CUDA_OPT_IMPROPER_INPUT, 'maxfev = 0 is refused')
        call expect(index(s%message(), 'MAXFEV') > 0, 'the message names MAXFEV')
    end subroutine

    subroutine check_single()
        type(minimiser) :: s
        real(c_float) :: x(n), g(n)
        real(c_double) :: f
        integer(c_int) :: task

        x = 0
        task = s%create(x, m=5)
        task = s%set_bounds(spread(-1._c_float, 1, n), spread(0.75_c_float, 1, n))
        do while (s%solve(x, f, g) > 0)
            call evaluate(x, f, g)
        end do
        call expect(all(abs(x - by_addresses_f32()) <= 0), 'single: the bits of the module cuda_opt')

        x = 0
        task = s%reset()
        call expect(s%set_bounds(-1._c_float, 0.75_c_float) == 0, 'two numbers are accepted as bounds')
        do while (s%solve(x, f, g) > 0)
            call evaluate(x, f, g)
        end do
        call expect(all(abs(x - by_addresses_f32()) <= 0), 'single: bounds as numbers give the same bits')
    end subroutine

    subroutine check_refusals()
        type(minimiser) :: s
        real(c_double) :: x(n), g(n), long(2*n), nothing(0), f
        real(c_float) :: x_f32(n), g_f32(n)
        integer(c_int) :: task
        integer(c_int32_t) :: short
        integer(c_int64_t) :: least

        call expect(s%create(nothing, m=5) == CUDA_OPT_IMPROPER_INPUT, 'no variables are refused')
        call expect(s%set_bounds(nothing, nothing) == CUDA_OPT_IMPROPER_INPUT, 'bounds without variables are refused')
        call expect(s%solve(nothing, f, nothing) == CUDA_OPT_IMPROPER_INPUT, 'a solve without variables is refused')
        call expect(index(s%message(), 'variables n is 0') > 0, 'message of create()')
        x = 0
        long = 0
        task = s%create(x, m=5)
        least = huge(least)
        least = not(least) ! -2^63, whose absolute value is none
        task = s%set(CUDA_OPT_IPRINT_FREQUENCY, least)
        short = 7
        call expect(s%get(CUDA_OPT_IPRINT_FREQUENCY, short) == CUDA_OPT_IMPROPER_INPUT, '32 bits are too few')
        call expect(short == 7, 'a refused result does not change the argument')
        task = s%set(CUDA_OPT_IPRINT_FREQUENCY, -1)
        call expect(s%solve(x(2:), f, g) == CUDA_OPT_IMPROPER_INPUT, 'a short x is refused')
        call expect(s%message() == 'x has 99 elements, but n is 100', 'message for a short x')
        call expect(s%solve(x, f, long) == CUDA_OPT_IMPROPER_INPUT, 'a long g is refused')
        call expect(s%solve(x, f, long(::2)) == CUDA_OPT_IMPROPER_INPUT, 'a g with gaps is refused')
        call expect(s%message() == 'g is not contiguous', 'message for a g with gaps')
        call expect(s%set_bounds(x, long) == CUDA_OPT_IMPROPER_INPUT, 'long bounds are refused')
        call expect(s%solve(x_f32, f, g_f32) == CUDA_OPT_MISUSE, 'the other precision is refused')
        call expect(s%solve(x, f, g) == CUDA_OPT_EVALUATE_FG, 'refusals do not change the handle')
        call expect(s%set_bounds(x, x) == CUDA_OPT_MISUSE, 'bounds during a solve are refused')
        call evaluate(x, f, g)
        call expect(s%solve(x, f, g) == CUDA_OPT_EVALUATE_FG, 'the solve continues after a refusal')
    end subroutine

end module

program fortran_arrays
    use problem
    implicit none

    call check_double()
    call check_single()
    call check_refusals()
    print '(i0, a)', failures, ' failures'
end program
