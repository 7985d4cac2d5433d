// What each shell is told so that it asks the program how a line may go on: the words up to the cursor go to `completion candidates`, which
// answers a line each, `TEXT<tab>DESCRIPTION`, and FILES_LINE where names of files fit. What fits is completions.ts.
import type { Completions } from './completions.ts';
import type { Shell } from './shells.ts';

/** In the place of candidates that the shell knows itself. */
const FILES_LINE = ':files';

/** The lines that a script reads, each ended. */
export function candidateLines({ candidates, files }: Completions): string {
  const lines = candidates.map(({ text, description }) => (description === '' ? text : `${text}\t${description}`));
  return [...lines, ...(files ? [FILES_LINE] : [])].map((line) => `${line}\n`).join('');
}

/** Bash takes `=` for the end of a word: what stands before it is not to be repeated. */
const BASH = `# bash completion for orch
_orch() {
  local line candidate before typed
  local -a words
  line=\${COMP_LINE:0:COMP_POINT}
  read -r -a words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  typed=\${words[\${#words[@]} - 1]}
  before=
  [[ $typed == *=* ]] && before=\${typed%%=*}=
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [[ $candidate == '${FILES_LINE}' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "\${typed#"$before"}")
    else
      candidate=\${candidate%%$'\\t'*}
      COMPREPLY+=("\${candidate#"$before"}")
    fi
  done < <("\${words[0]}" completion candidates "\${words[@]:1}" 2>/dev/null)
}
complete -F _orch orch
`;

const ZSH = `#compdef orch
_orch() {
  local line text
  local -a described
  for line in \${(f)"$("\${words[1]}" completion candidates "\${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    if [[ $line == '${FILES_LINE}' ]]; then
      compset -P '*='
      _files
    else
      text=\${\${line%%$'\\t'*}//:/\\\\:}
      [[ $line == *$'\\t'* ]] && text+=:\${line#*$'\\t'}
      described+=("$text")
    fi
  done
  (( \${#described} )) && _describe -V orch described
}
if [[ $funcstack[1] == _orch ]]; then _orch; else compdef _orch orch; fi
`;

const FISH = `# fish completion for orch
function __orch_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (command $words[1] completion candidates $words[2..-1] 2>/dev/null)
    if test "$line" = '${FILES_LINE}'
      set -l before (string match -r '^--[^=]*=' -- $words[-1]; or echo)
      for file in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- $words[-1]))
        echo $before$file
      end
    else
      echo $line
    end
  end
end
complete -c orch -f -a '(__orch_complete)'
`;

/** The script of each shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
