! Minimises the extended Rosenbrock function with x_1, x_3, ... <= 0.5, in Fortran 2008.
program rosenbrock_with_bounds
    use, intrinsic :: iso_c_binding
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_positive_inf
    use cuda_opt
    implicit none

    integer, parameter :: n = 1000
    integer(c_int32_t), parameter :: m = 5
    real(c_double), target :: x(n), g(n), f, lower(n), upper(n)
    type(c_ptr) :: s
    integer(c_int) :: task
    integer(c_int64_t) :: at_upper

    x(1::2) = -1.2_c_double
    x(2::2) = 1
    upper = ieee_value(upper, ieee_positive_inf)
    lower = -upper
    upper(1::2) = 0.5_c_double

    task = cuda_opt_create(s, int(n, c_int64_t), m, CUDA_OPT_BACKEND_HOST)
    if (task == 0) task = cuda_opt_set_bounds(s, c_loc(lower), c_loc(upper))
    if (task == 0) task = cuda_opt_set_real(s, CUDA_OPT_EPS, 1e-8_c_double)
    do while (task >= 0)
        task = cuda_opt_solve(s, c_loc(x), c_loc(f), c_loc(g))
        if (task /= CUDA_OPT_EVALUATE_FG) exit
        call rosenbrock(x, f, g)
    end do
    if (task /= CUDA_OPT_CONVERGED) then
        print '(a)', cuda_opt_text(cuda_opt_task_name(task))//': '//cuda_opt_text(cuda_opt_message(s))
        call cuda_opt_destroy(s)
        stop 1
    end if

    task = cuda_opt_get_int(s, CUDA_OPT_UPPER_COUNT, at_upper)
    print '(a, f0.6, a, f8.6, 1x, f8.6, a, i0, a)', &
        'f = ', f, ', x = ', x(1), x(2), ', ', at_upper, ' at the upper bound'
    call cuda_opt_destroy(s)

contains

    subroutine rosenbrock(x, f, g)
        real(c_double), intent(in) :: x(:)
        real(c_double), intent(out) :: f, g(:)
        real(c_double) :: a, b
        integer :: i

        f = 0
        do i = 1, size(x), 2
            a = x(i + 1) - x(i)**2
            b = 1 - x(i)
            f = f + 100*a**2 + b**2
            g(i) = -400*x(i)*a - 2*b
            g(i + 1) = 200*a
        end do
    end subroutine

end program
