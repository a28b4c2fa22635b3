/// What the completion script for bash needs besides what the argument parser generates.
enum BashCompletion {
  /// Readline splits the line at colons and equals signs, which keys contain, and shows only what follows the last
  /// slash of a candidate. Here words are put together again for the generated functions, `--option=value` becomes two
  /// words, candidates that are no files are quoted, or follow an open quote, and are shown whole, and the part that
  /// Readline takes for the words before is removed from them. After the `--` of `run`, the command and its arguments
  /// are completed.
  static let addition = #"""

    # Candidates that are no files have slashes and blanks as any other characters.
    __secretprefs_add_completions() {
        local completion
        [[ "${1}" = -f || "${1}" = -d ]] || compopt +o filenames
        while IFS='' read -r completion; do
            if [[ "${1}" != -f && "${1}" != -d ]]; then
                case "${quote}" in
                '') printf -v completion %q "${completion}" ;;
                '"') completion="$(printf %s "${completion}" | sed 's/[\\"$`]/\\&/g')" ;;
                *) [[ "${completion}" != *\'* ]] || continue ;;
                esac
            fi
            COMPREPLY+=("${completion}")
        done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
    }

    _secretprefs_words() {
        local -a words=()
        local -i index=0 last=0
        local rest="${COMP_LINE}" word glued=false
        for word in "${COMP_WORDS[@]::COMP_CWORD + 1}"; do
            [[ "${rest}" = [[:space:]]* ]] && glued=false
            rest="${rest#"${rest%%[![:space:]]*}"}"
            rest="${rest#"${word}"}"
            if "${glued}"; then words[last]+="${word}"; else words+=("${word}"); fi
            last=$((${#words[@]} - 1))
            glued=true
        done
        # A line that ends with a blank has an empty word at its end.
        local typed="${words[last]}"
        local value="${typed}"
        if [[ "${typed}" = --*=* ]]; then
            words[last]="${typed%%=*}"
            value="${typed#*=}"
            words+=("${value}")
            last+=1
        fi
        # Readline keeps an open quote, and replaces what follows it.
        local quote=''
        if [[ "${value}" = [\"\']* ]]; then
            quote="${value:0:1}"
            value="${value:1}"
            words[last]="${value}"
        fi

        if [[ "${words[1]}" = run ]]; then
            for ((index = 2; index < last; index++)); do
                [[ "${words[index]}" = -- ]] || continue
                if ((index == last - 1)); then
                    COMPREPLY=($(compgen -c -- "${value}"))
                else
                    COMPREPLY=()
                    while IFS='' read -r word; do COMPREPLY+=("${word}"); done < <(compgen -f -- "${value}")
                fi
                return
            done
        fi

        local -a COMP_WORDS=("${words[@]}")
        local -i COMP_CWORD="${last}"
        local COMP_LINE="${words[*]}"
        local -i COMP_POINT="${#COMP_LINE}"
        _secretprefs "${1}" "${value}" "${words[last - 1]}"

        [[ -z "${quote}" ]] || return 0
        local known=''
        [[ "${COMP_WORDBREAKS}" != *:* || "${value}" != *:* ]] || known="${value%"${value##*:}"}"
        [[ "${COMP_WORDBREAKS}" != *=* || "${value}" != *=* ]] || known="${value%"${value##*[:=]}"}"
        for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]="${COMPREPLY[index]#"${known}"}"; done
    }

    complete -o filenames -F _secretprefs_words secretprefs
    """#
}
