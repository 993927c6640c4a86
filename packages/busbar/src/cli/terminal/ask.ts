import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.ts'

/** True if input and output are a terminal. */
export function canAsk({ out }: Terminal): boolean {
  return process.stdin.isTTY && out.isTerminal
}

export interface Question {
  readonly text: string
  /** The result of an empty answer. */
  readonly usual: string
  /** The user may type the first letters of one, or its number. Undefined: any text. */
  readonly answers?: readonly string[]
}

/** Asks until the answer is one of the answers. Undefined after Ctrl-C or Ctrl-D. */
export async function ask({ text, usual, answers }: Question, { out }: Terminal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: out.stream })
  try {
    const { promise: closed, resolve } = Promise.withResolvers<undefined>()
    lines.once('close', () => resolve(undefined))
    for (;;) {
      const given = (await Promise.race([lines.question(`${text} (${usual}) `), closed]))?.trim()
      if (given === undefined) return undefined
      if (given === '') return usual
      if (answers === undefined) return given
      const found = answers[Number(given) - 1] ?? answers.find((answer) => answer.startsWith(given.toLowerCase()))
      if (found !== undefined) return found
    }
  } finally {
    lines.close()
  }
}
