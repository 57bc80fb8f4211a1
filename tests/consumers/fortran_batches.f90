! Compares batches in Fortran with the C interface (fortran_batches.c) and with known minima. The module
! cuda_opt_batches gives the same bits in both precisions, with columns in place or packed, and so does a
! batch_minimiser. Arrays of a wrong shape are refused by name. A problem whose bounds are crossed has its own return
! code.
module problem
    use, intrinsic :: iso_c_binding
    use cuda_opt
    use cuda_opt_arrays
    use cuda_opt_batches
    implicit none

    integer(c_int64_t), parameter :: n = 4, count = 50
    integer, parameter :: crossed = 7 ! the problem whose bounds are
    integer :: failures = 0

    interface
        integer(c_int) function solve_in_c(n, count, lower, upper, x, f, g, d, codes, norms, evaluate) bind(c)
            import
            integer(c_int64_t), value :: n, count
            real(c_double), intent(in) :: lower(*), upper(*)
            real(c_double), intent(inout) :: x(*), f(*), g(*), d(*), norms(*)
            integer(c_int64_t), intent(inout) :: codes(*)
            type(c_funptr), value :: evaluate
        end function

        integer(c_int) function solve_in_c_f32(n, count, lower, upper, x, f, g, d, codes, norms, evaluate) bind(c)
            import
            integer(c_int64_t), value :: n, count
            real(c_float), intent(in) :: lower(*), upper(*)
            real(c_float), intent(inout) :: x(*), g(*), d(*)
            real(c_double), intent(inout) :: f(*), norms(*)
            integer(c_int64_t), intent(inout) :: codes(*)
            type(c_funptr), value :: evaluate
        end function
    end interface

contains

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (.not. holds) print '(2a)', 'does not hold: ', what
        if (.not. holds) failures = failures + 1
    end subroutine

    ! f_p = sum i (x_i - c)^2 / 2 + (x_i - c)^4 / 4, c = i - p / 10. The minimiser in a box is the projection of c. p
    ! counts from 0.
    subroutine evaluate(p, x, f, g, d) bind(c)
        integer(c_int64_t), value :: p
        real(c_double), intent(in) :: x(n)
        real(c_double), intent(out) :: f, g(n), d(n)
        real(c_double) :: off
        integer :: i

        f = 0
        do i = 1, int(n)
            off = x(i) - (i - p/10._c_double)
            f = f + i*off**2/2 + off**4/4
            g(i) = i*off + off**3
            d(i) = 1/(i + 3*off**2)
        end do
    end subroutine

    subroutine evaluate_f32(p, x, f, g, d) bind(c)
        integer(c_int64_t), value :: p
        real(c_float), intent(in) :: x(n)
        real(c_double), intent(out) :: f
        real(c_float), intent(out) :: g(n), d(n)
        real(c_double) :: in_double(n), slope(n), inverse(n)

        in_double = x
        call evaluate(p, in_double, f, slope, inverse)
        g = real(slope, c_float)
        d = real(inverse, c_float)
    end subroutine

    subroutine boxes(lower, upper)
        real(c_double), intent(out) :: lower(n, count), upper(n, count)
        integer :: p

        do p = 1, int(count)
            lower(:, p) = -p/20._c_double
            upper(:, p) = 1 + p/25._c_double
        end do
        lower(2, crossed) = 3
    end subroutine

    subroutine reference(x, f, codes, norms)
        real(c_double), intent(out) :: x(n, count), f(count), norms(count)
        integer(c_int64_t), intent(out) :: codes(count)
        real(c_double) :: g(n, count), d(n, count), lower(n, count), upper(n, count)
        integer(c_int) :: code

        call boxes(lower, upper)
        x = 0.5_c_double
        code = solve_in_c(n, count, lower, upper, x, f, g, d, codes, norms, c_funloc(evaluate))
        call expect(code == CUDA_OPT_IMPROPER_INPUT, 'in C: solve returns the code of crossed bounds')
        call expect_minima(x, 1e-4_c_double, 'in C')
    end subroutine

    subroutine expect_minima(x, tolerance, what)
        real(c_double), intent(in) :: x(n, count), tolerance
        character(*), intent(in) :: what
        real(c_double) :: lower(n, count), upper(n, count), least(n)
        integer :: i, p

        call boxes(lower, upper)
        do p = 1, int(count)
            if (p == crossed) cycle
            least = min(max([(i - (p - 1)/10._c_double, i=1, int(n))], lower(:, p)), upper(:, p))
            call expect(maxval(abs(x(:, p) - least)) < tolerance, what//': x is the known minimiser')
        end do
    end subroutine

    ! Checks that each problem has the result of the reference.
    subroutine expect_same(x, f, codes, norms, what)
        real(c_double), intent(in) :: x(n, count), f(count), norms(count)
        integer(c_int64_t), intent(in) :: codes(count)
        character(*), intent(in) :: what
        real(c_double) :: x_c(n, count), f_c(count), norms_c(count)
        integer(c_int64_t) :: codes_c(count)
        logical :: evaluated(count) ! the f of one that was not is nobody's

        call reference(x_c, f_c, codes_c, norms_c)
        evaluated = codes_c /= CUDA_OPT_IMPROPER_INPUT
        call expect(all(abs(x - x_c) <= 0), what//': x has the bits of C')
        call expect(all(abs(f - f_c) <= 0 .or. .not. evaluated), what//': f has the bits of C')
        call expect(all(abs(norms - norms_c) <= 0 .or. .not. evaluated), what//': norms have the bits of C')
        call expect(all(codes == codes_c), what//': codes are those of C')
        call expect(count_of(codes, CUDA_OPT_CONVERGED) == count - 1, what//': all have converged but one')
        call expect(codes(crossed) == CUDA_OPT_IMPROPER_INPUT, what//': crossed bounds are refused')
    end subroutine

    pure integer(c_int64_t) function count_of(codes, code)
        integer(c_int64_t), intent(in) :: codes(:)
        integer(c_int), intent(in) :: code

        count_of = sum(merge(1_c_int64_t, 0_c_int64_t, codes == code))
    end function

    ! packed: column k belongs to the k-th active problem.
    subroutine check_addresses(packed)
        integer(c_int64_t), intent(in) :: packed
        real(c_double), target :: x(n, count), g(n, count), d(n, count), f(count), norms(count)
        real(c_double), target :: lower(n, count), upper(n, count)
        integer(c_int64_t), target :: codes(count)
        integer(c_int64_t), pointer :: active(:)
        integer(c_int64_t) :: many, k, column, found
        type(c_ptr) :: s
        integer(c_int) :: task

        call boxes(lower, upper)
        x = 0.5_c_double
        f = 0
        task = cuda_opt_create_batch(s, n, count, 5_c_int32_t, CUDA_OPT_BACKEND_HOST)
        if (task == 0) task = cuda_opt_batch_set_bounds(s, c_loc(lower), c_loc(upper))
        if (task == 0) task = cuda_opt_set_int(s, CUDA_OPT_METRIC, int(CUDA_OPT_METRIC_DIAGONAL, c_int64_t))
        if (task == 0) task = cuda_opt_batch_set_diagonal(s, c_loc(d))
        if (task == 0) task = cuda_opt_set_int(s, CUDA_OPT_BATCH_PACKED, packed)
        call expect(task == 0, 'a batch is created')
        task = cuda_opt_get_int(s, CUDA_OPT_BATCH_COUNT, found)
        call expect(found == count, 'the count is returned')
        do
            task = cuda_opt_batch_solve(s, c_loc(x), c_loc(f), c_loc(g))
            if (task /= CUDA_OPT_EVALUATE_BATCH) exit
            if (cuda_opt_get_int(s, CUDA_OPT_BATCH, many) /= 0) exit
            call c_f_pointer(cuda_opt_batch_active(s), active, [many])
            do k = 1, many
                column = merge(k, active(k) + 1, packed == 1)
                call evaluate(active(k), x(:, column), f(column), g(:, column), d(:, column))
            end do
        end do
        call expect(task == CUDA_OPT_IMPROPER_INPUT, 'solve returns the code of crossed bounds')
        call expect(.not. c_associated(cuda_opt_batch_active(s)), 'none is active at the end')
        task = cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, c_loc(codes))
        task = cuda_opt_batch_get_real(s, CUDA_OPT_PG_NORM_INF, c_loc(norms))
        call expect_same(x, f, codes, norms, merge('packed  ', 'in place', packed == 1))
        call expect(index(cuda_opt_text(cuda_opt_batch_message(s, 0_c_int64_t)), 'converged') == 1, 'a message')
        call cuda_opt_destroy(s)
    end subroutine

    subroutine check_single()
        real(c_float), target :: x(n, count), g(n, count), d(n, count), lower(n, count), upper(n, count)
        real(c_float) :: x_c(n, count)
        real(c_double), target :: f(count), box(n, count, 2), norms(count)
        integer(c_int64_t) :: many, k, codes(count)
        integer(c_int64_t), pointer :: active(:)
        type(c_ptr) :: s
        integer(c_int) :: task

        call boxes(box(:, :, 1), box(:, :, 2))
        lower = real(box(:, :, 1), c_float)
        upper = real(box(:, :, 2), c_float)
        x_c = 0.5_c_float
        task = solve_in_c_f32(n, count, lower, upper, x_c, f, g, d, codes, norms, c_funloc(evaluate_f32))
        call expect(task == CUDA_OPT_IMPROPER_INPUT, 'single, in C: the code of crossed bounds')
        x = 0.5_c_float
        task = cuda_opt_create_batch_f32(s, n, count, 5_c_int32_t, CUDA_OPT_BACKEND_HOST)
        if (task == 0) task = cuda_opt_batch_set_bounds_f32(s, c_loc(lower), c_loc(upper))
        if (task == 0) task = cuda_opt_set_int(s, CUDA_OPT_METRIC, int(CUDA_OPT_METRIC_DIAGONAL, c_int64_t))
        if (task == 0) task = cuda_opt_batch_set_diagonal_f32(s, c_loc(d))
        call expect(task == 0, 'a batch in single precision is created')
        do while (cuda_opt_batch_solve_f32(s, c_loc(x), c_loc(f), c_loc(g)) > 0)
            if (cuda_opt_get_int(s, CUDA_OPT_BATCH, many) /= 0) exit
            call c_f_pointer(cuda_opt_batch_active(s), active, [many])
            do k = 1, many
                associate (p => active(k) + 1)
                    call evaluate_f32(active(k), x(:, p), f(p), g(:, p), d(:, p))
                end associate
            end do
        end do
        call cuda_opt_destroy(s)
        call expect(all(abs(x - x_c) <= 0), 'single: x has the bits of C')
        call expect_minima(real(x, c_double), 1e-3_c_double, 'single')
    end subroutine

    subroutine check_minimiser()
        type(batch_minimiser) :: s
        real(c_double), target :: x(n, count), g(n, count), d(n, count), f(count), norms(count)
        real(c_double) :: lower(n, count), upper(n, count), boxed(n, count)
        integer(c_int64_t) :: codes(count)
        integer(c_int64_t), allocatable :: active(:)
        integer :: turn, k
        integer(c_int) :: task

        call boxes(lower, upper)
        do turn = 1, 2 ! a second handle in the same variable
            x = 0.5_c_double
            f = 0
            task = s%create(x, m=5)
            call expect(size(s%active()) == 0, 'none is active before the first call')
            if (task == 0) task = s%set_bounds(lower + 0, upper + 0)
            if (task == 0) task = s%set(CUDA_OPT_METRIC, CUDA_OPT_METRIC_DIAGONAL)
            if (task == 0) task = cuda_opt_batch_set_diagonal(s%handle(), c_loc(d))
            call expect(task == 0, 'a batch_minimiser is created')
            call solve()
            call expect(s%get(CUDA_OPT_BATCH_CODE, codes) == 0, 'integer results are returned')
            call expect(s%get(CUDA_OPT_PG_NORM_INF, norms) == 0, 'real results are returned')
            call expect_same(x, f, codes, norms, 'batch_minimiser')
        end do
        call expect(size(s%active()) == 0, 'none is active at the end')
        call expect(index(s%message_of(1), 'converged') == 1, 'problems are counted from 1')
        call expect(index(s%message_of(crossed), 'bound') > 0, 'the message names the bounds')
        call expect(index(s%message_of(int(count)), 'converged') == 1, 'the last problem has the number count')

        ! A column or a number for all problems replaces the columns.
        x = 0.5_c_double
        task = s%reset()
        lower = 0
        upper = 1
        call expect(s%set_bounds(lower(:, 1), upper(:, 1)) == 0, 'one column is accepted as bounds')
        call solve()
        call expect(task == CUDA_OPT_CONVERGED, 'all have converged')
        boxed = x
        x = 0.5_c_double
        task = s%reset()
        call expect(s%set_bounds(0._c_double, 1._c_double) == 0, 'two numbers are accepted as bounds')
        call solve()
        call expect(all(abs(x - boxed) <= 0), 'numbers as bounds give the bits of arrays')
        call expect(minval(x) >= 0 .and. maxval(x) <= 1, 'all x are in the box')

    contains

        subroutine solve()
            do
                task = s%solve(x, f, g)
                if (task /= CUDA_OPT_EVALUATE_BATCH) exit
                active = s%active()
                do k = 1, size(active)
                    associate (p => active(k))
                        call evaluate(p - 1, x(:, p), f(p), g(:, p), d(:, p))
                    end associate
                end do
            end do
        end subroutine
    end subroutine

    subroutine check_refusals()
        type(batch_minimiser) :: s
        real(c_double) :: x(n, count), g(n, count), f(count), nothing(n, 0), nobody(0, count), long(2*n, count), few(0)
        integer(c_int64_t) :: codes(count)

        call expect(size(s%active()) == 0, 'none is active without a handle')
        call expect(s%solve(x, f, g) == CUDA_OPT_MISUSE, 'create() comes first')
        call expect(s%message() == 'create() comes first', 'the message names create()')
        call expect(s%create(nothing, m=5) == CUDA_OPT_IMPROPER_INPUT, 'no problems are refused')
        call expect(s%set_bounds(nothing, nothing) == CUDA_OPT_IMPROPER_INPUT, 'bounds of no problems are refused')
        call expect(s%solve(nothing, few, nothing) == CUDA_OPT_IMPROPER_INPUT, 'a solve of no problems is refused')
        call expect(index(s%message(), 'number of problems is 0') > 0, 'message of create()')
        call expect(s%create(nobody, m=5) == CUDA_OPT_IMPROPER_INPUT, 'no variables are refused')
        call expect(s%solve(nobody, f, nobody) == CUDA_OPT_IMPROPER_INPUT, 'a solve without variables is refused')
        call expect(index(s%message(), 'variables n is 0') > 0, 'message of create()')
        x = 0
        long = 0
        call expect(s%create(x, m=5) == 0, 'a batch is created')
        call expect(s%get(CUDA_OPT_BATCH_CODE, codes) == CUDA_OPT_MISUSE, 'there are no results before the first call')
        call expect(s%solve(long, f, g) == CUDA_OPT_IMPROPER_INPUT, 'long columns are refused')
        call expect(s%message() == 'a column of x has 8 elements, but n is 4', 'message for long columns')
        call expect(s%solve(x, f, g(:, 2:)) == CUDA_OPT_IMPROPER_INPUT, 'too few columns are refused')
        call expect(s%message() == 'g is for 49 problems, but count is 50', 'message for few columns')
        call expect(s%solve(x, f(3:), g) == CUDA_OPT_IMPROPER_INPUT, 'a short f is refused')
        call expect(s%message() == 'f is for 48 problems, but count is 50', 'message for a short f')
        call expect(s%solve(long(::2, :), f, g) == CUDA_OPT_IMPROPER_INPUT, 'columns with gaps are refused')
        call expect(s%message() == 'x is not contiguous', 'message for gaps')
        call expect(s%set_bounds(x(:, 2:), x) == CUDA_OPT_IMPROPER_INPUT, 'bounds for too few are refused')
        call expect(s%get(CUDA_OPT_BATCH_CODE, codes(2:)) == CUDA_OPT_IMPROPER_INPUT, 'short results are refused')
        call expect(s%solve(x(:, 1), f(1), g(:, 1)) == CUDA_OPT_MISUSE, 'arrays of one problem are refused')
        call expect(s%solve(x, f, g) == CUDA_OPT_EVALUATE_BATCH, 'refusals do not change the handle')
        call expect(size(s%active()) == count, 'all are active')
        call expect(s%set_bounds(x, x) == CUDA_OPT_MISUSE, 'bounds during a solve are refused')
    end subroutine

end module

program fortran_batches
    use problem
    implicit none

    call check_addresses(packed=0_c_int64_t)
    call check_addresses(packed=1_c_int64_t)
    call check_single()
    call check_minimiser()
    call check_refusals()
    print '(i0, a)', failures, ' failures'
end program
