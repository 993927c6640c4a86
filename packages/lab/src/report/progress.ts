import type { Progress } from '../protocol/session.ts'

/** One line that says what is going on; nothing where the output is no terminal. */
export function showProgress(output: NodeJS.WriteStream): { show: (progress: Progress) => void; clear: () => void } {
  if (!output.isTTY) return { show: () => {}, clear: () => {} }
  const terminal = output
  const began = performance.now()
  return {
    show({ round, rounds, cell, doing }) {
      const seconds = Math.round((performance.now() - began) / 1000)
      terminal.clearLine(0)
      terminal.cursorTo(0)
      terminal.write(`round ${round} of ${rounds}, ${seconds} s: ${doing} ${cell}`.slice(0, terminal.columns - 1))
    },
    clear() {
      terminal.clearLine(0)
      terminal.cursorTo(0)
    },
  }
}
