import { styleText } from 'node:util'

export interface Output {
  readonly stream: NodeJS.WriteStream
  /** A person reads it, not a file or another program. */
  readonly isTerminal: boolean
  readonly colors: boolean
}

export type Style = Parameters<typeof styleText>[0]

/** Where a command prints to, and what it knows of the world. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

export function processTerminal(): Terminal {
  return { out: toOutput(process.stdout), err: toOutput(process.stderr), env: process.env, cwd: process.cwd() }
}

export function print(output: Output, text: string): void {
  output.stream.write(`${text}\n`)
}

export function paint(output: Output, style: Style, text: string): string {
  return output.colors ? styleText(style, text, { validateStream: false }) : text
}

function toOutput(stream: NodeJS.WriteStream): Output {
  // A reader that went away (`busbar check | head -1`) is no reason to crash.
  stream.on('error', () => {})
  // Node's own rules: colours on a terminal, none with NO_COLOR, always with FORCE_COLOR.
  const colors = styleText('bold', 'x', { stream }) !== 'x'
  return { stream, isTerminal: stream.isTTY, colors }
}
