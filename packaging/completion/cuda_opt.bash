# Completion for driver_program, search_program, batch_program and cvt_program in bash. The options are what the program's own --help
# says, the names of problems, functions and densities what --list says: there is no second list to keep.

_cuda_opt_names() { "$1" --list 2>/dev/null | sed -nE 's/^([a-z][a-z0-9_-]*): .*/\1/p'; }
_cuda_opt_options() { "$1" --help 2>/dev/null | grep -oE '^  (-[a-z],)?--[a-z][a-z-]*' | grep -oE -e '--[a-z-]+'; }
# What stands for the option's value: FILE, NAME, K, X; nothing where it takes none.
_cuda_opt_value_of() { "$1" --help 2>/dev/null | sed -nE "s/^  (-[a-z],)?$2 ([A-Z][A-Za-z,=]*) .*/\\2/p"; }

_cuda_opt_program() {
    local program=$1 word=$2 before=$3 words=
    COMPREPLY=()
    command -v "$program" >/dev/null || return 0
    case $before in
        --problem | --function | --density) words=$(_cuda_opt_names "$program") ;;
        --backend) words='auto cuda host' ;;
        --precision) words='double single' ;;
        --initial-hessian) words='scalar learned' ;;
        --at-smallest-step) words='restart stop new-point' ;;
        --history-bits) words='16 32 64' ;;
        --product-bits) words='32 64' ;;
        --*)
            case $(_cuda_opt_value_of "$program" "$before") in
                FILE) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return 0 ;;
                ?*) return 0 ;; # a number
            esac
            ;;
    esac
    if [[ -z $words ]]; then
        [[ $word == -* ]] || return 0
        words=$(_cuda_opt_options "$program")
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _cuda_opt_program driver_program search_program batch_program cvt_program
