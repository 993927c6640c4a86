import { basename, delimiter, dirname, join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { FoundEntry } from './entry.ts'
import { splitWords } from './start-script.ts'

export interface CommandSource {
  /** Name of the service. */
  readonly name: string
  readonly command: string
  readonly path: string
  readonly kind: 'file' | 'folder' | 'missing'
  /** Path of the contract in its folder, if there is one. */
  readonly contract: string | undefined
}

/** Protects `$PORT` from {@link splitWords}, which refuses variables. */
const portMark = '\uE000'

/**
 * Splits a command line into words, without a shell: a shell would not pass on the signals that
 * stop the program, and would execute the values of placeholders. Only `$PORT` is supported, since
 * many programs take their port as a flag. Throws CONFIG_INVALID.
 */
export function commandEntry(source: CommandSource): FoundEntry {
  checkFolder(source)
  const words = splitCommand(source.command)
  if (words === undefined) throw needsShell(source)
  const [file, ...args] = words
  return { entry: { file: file!, args, nodeOptions: [], foundBy: 'command' }, script: undefined }
}

/** Its words. Undefined if it needs a shell. */
export function splitCommand(command: string): string[] | undefined {
  const words = splitWords(command.replaceAll(/\$PORT\b/g, portMark))
  return words?.map((word) => word.replaceAll(portMark, '$PORT'))
}

/**
 * `PATH` as for `npm run`: first the `node_modules/.bin` of the folder and of all parent folders.
 */
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
      message: `services.${name} has a command, but its path ${path} is a file`,
      hint: 'Set path to the folder in which the command runs, or leave it out.',
    })
  if (contract !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      service: name,
      message: `services.${name} has a command (${command}), but ${basename(contract)} in its folder makes it a typed service`,
      hint: 'Leave the command out, and Busbar runs the implementation of the contract. Or set path to another folder.',
    })
}

function needsShell({ name, command }: CommandSource): BusbarError {
  return new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name}.command is ${JSON.stringify(command)}, which needs a shell`,
    hint: `Write sh -c 'exec …' to run a shell. Without one, only $PORT is replaced; set variables under env.`,
  })
}
