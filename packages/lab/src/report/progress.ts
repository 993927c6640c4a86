import type { Progress } from '../protocol/session.ts'

export interface ProgressLine {
  show(progress: Progress): void
  clear(): void
}

/** On a terminal one line that is updated, else one line per round. */
export function showProgress(output: NodeJS.WritableStream): ProgressLine {
  return isTerminal(output) ? onTerminal(output) : onPipe(output)
}

function onTerminal(output: NodeJS.WriteStream): ProgressLine {
  const clear = () => {
    output.cursorTo(0)
    output.clearLine(0)
  }
  return {
    show(progress) {
      clear()
      output.write(textOf(progress).slice(0, output.columns - 1))
    },
    clear,
  }
}

function onPipe(output: NodeJS.WritableStream): ProgressLine {
  let round = 0
  return {
    show(progress) {
      if (progress.round === round) return
      round = progress.round
      output.write(`round ${round} of ${progress.rounds}${left(progress)}\n`)
    },
    clear() {},
  }
}

function isTerminal(output: NodeJS.WritableStream): output is NodeJS.WriteStream {
  return (output as Partial<NodeJS.WriteStream>).isTTY === true
}

function textOf(progress: Progress): string {
  return `round ${progress.round} of ${progress.rounds}${left(progress)}: ${progress.activity} ${progress.cell}`
}

function left({ secondsLeft }: Progress): string {
  if (secondsLeft === undefined) return ''
  return secondsLeft > 90 ? `, ${Math.round(secondsLeft / 60)} min left` : `, ${Math.round(secondsLeft)} s left`
}
