import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.ts'

/** Whether somebody is there who can answer. */
export function canAsk({ out }: Terminal): boolean {
  return process.stdin.isTTY && out.isTerminal
}

export interface Question {
  readonly text: string
  /** For an empty answer. */
  readonly usual: string
  /** Undefined: any text. An answer may be the first letters of one of them, or its number. */
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
