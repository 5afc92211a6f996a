# Completion of wick's words in bash: the command itself says what they can be.
_wick() {
  local line cur=${COMP_WORDS[COMP_CWORD]}
  [[ $cur == '=' ]] && cur=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$cur" 2> /dev/null)
}
complete -F _wick wick
