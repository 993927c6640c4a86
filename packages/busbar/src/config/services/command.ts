import { basename, delimiter, dirname, join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { FoundEntry } from './entry.ts'
import { splitWords } from './start-script.ts'

export interface CommandSource {
  /** Of the service. */
  readonly name: string
  readonly command: string
  readonly path: string
  readonly kind: 'file' | 'folder' | 'missing'
  /** The contract in its folder, if there is one. */
  readonly contract: string | undefined
}

/** A word of no program, for the one variable that is understood without a shell. */
const portMark = '\uE000'

/**
 * The words of a command line. No shell is asked: it would stand between the program and the signals that stop it, and
 * what a config's placeholders are filled with would be run by it. Only `$PORT` is understood, since many programs take
 * their port as a flag. Throws CONFIG_INVALID.
 */
export function commandEntry(source: CommandSource): FoundEntry {
  checkFolder(source)
  const words = splitWords(source.command.replaceAll(/\$PORT\b/g, portMark))
  if (words === undefined) throw takesShell(source)
  const [file, ...args] = words.map((word) => word.replaceAll(portMark, '$PORT'))
  return { entry: { file: file!, args, nodeOptions: [], foundBy: 'command' }, script: undefined }
}

/** Where a command is looked for, as `npm run` has it: the `node_modules/.bin` of its folder and of all above it first. */
export function searchPath(folder: string, path = ''): string {
  const folders: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    folders.push(join(at, 'node_modules', '.bin'))
    if (dirname(at) === at) return [...folders, path].join(delimiter)
  }
}

function checkFolder({ name, command, path, kind, contract }: CommandSource): void {
  if (kind === 'file')
    throw new BusbarError('CONFIG_INVALID', {
      service: name,
      message: `services.${name} has a command, and its path ${path} is a file`,
      hint: 'Let path be the folder that the command runs in, or leave it out.',
    })
  if (contract !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      service: name,
      message: `services.${name} has a command (${command}), but ${basename(contract)} in its folder makes it a typed service`,
      hint: 'Leave the command out: Busbar runs what implements the contract. Or let path be another folder.',
    })
}

function takesShell({ name, command }: CommandSource): BusbarError {
  return new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name}.command is ${JSON.stringify(command)}, which takes a shell to understand`,
    hint: `Name the shell where you want one: sh -c 'exec …'. Without it, only $PORT is filled in; variables go to env.`,
  })
}
