import { BusbarError } from '../../contract/errors.ts'
import type { CommandContext } from '../command.ts'
import { completeWords } from '../completion/complete-words.ts'

/**
 * `busbar completion`: prints the script of a shell. The scripts call `busbar completion words` for
 * each Tab, with the words after `busbar`; the last one is incomplete.
 */
export async function completion(context: CommandContext): Promise<number> {
  const [shell, ...words] = context.operands as [string, ...string[]]
  const { stream } = context.terminal.out
  if (shell === 'words') {
    const found = await completeWords(words, context)
    stream.write(found.map(({ word, about }) => `${word}\t${about}\n`).join(''))
    return 0
  }
  if (!Object.hasOwn(scripts, shell))
    throw new BusbarError('USAGE', {
      message: `busbar completion supports ${Object.keys(scripts).join(', ')}, not "${shell}"`,
    })
  stream.write(scripts[shell as keyof typeof scripts])
  return 0
}

// Without a suggestion, shells complete the names of files.
const bash = `# source <(busbar completion bash)
_busbar() {
  local IFS=$'\\n'
  COMPREPLY=($(busbar completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _busbar busbar
`

const zsh = `#compdef busbar
# source <(busbar completion zsh)
_busbar() {
  local -a lines described
  local line
  lines=("\${(@f)$(busbar completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#described} )); then _describe busbar described; else _files; fi
}
compdef _busbar busbar
`

const fish = `# busbar completion fish | source
complete -c busbar -a '(busbar completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`

export const scripts = { bash, zsh, fish } as const
