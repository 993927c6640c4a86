import { styleText } from 'node:util'
import { BusbarError } from '../../contract/errors.ts'

export interface Output {
  readonly stream: NodeJS.WriteStream
  /** True for a terminal, false for a file or a pipe. */
  readonly isTerminal: boolean
  readonly colors: boolean
  /** Aborted with the error of the first write that failed: EPIPE if nobody reads any more. */
  readonly lost: AbortSignal
}

export type Style = Parameters<typeof styleText>[0]

/** The environment of a command. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly env: NodeJS.ProcessEnv
  /**
   * As it was first: an app of one service gives the process a directory of its own. Throws
   * CONFIG_NOT_FOUND if it has been deleted.
   */
  readonly cwd: string
}

export function processTerminal(): Terminal {
  let cwd: string | undefined
  return {
    out: toOutput(process.stdout),
    err: toOutput(process.stderr),
    env: process.env,
    get cwd() {
      return (cwd ??= workingDirectory())
    },
  }
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new BusbarError('CONFIG_NOT_FOUND', {
      message: 'the working directory does not exist any more',
      hint: 'Change to an existing folder.',
      cause,
    })
  }
}

export function print(output: Output, text: string): void {
  output.stream.write(`${text}\n`)
}

export function paint(output: Output, style: Style, text: string): string {
  return output.colors ? styleText(style, text, { validateStream: false }) : text
}

function toOutput(stream: NodeJS.WriteStream): Output {
  const lost = new AbortController()
  // A closed pipe (`busbar check | head -1`) must not crash the command.
  stream.on('error', (error) => lost.abort(error))
  // Node's rules: colours on a terminal, never with NO_COLOR, always with FORCE_COLOR.
  const colors = styleText('bold', 'x', { stream }) !== 'x'
  return { stream, isTerminal: stream.isTTY, colors, lost: lost.signal }
}
