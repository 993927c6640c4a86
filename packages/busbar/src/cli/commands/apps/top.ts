import { on } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { findRuns, listRuns } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { onStopSignal } from '../../stop-signals.ts'
import { print } from '../../terminal/terminal.ts'
import { edgeLines } from './edge-lines.ts'
import { detailText, listText } from './ps.ts'

/** The busiest ones. `busbar describe` shows more. */
const shownEdges = 20

/**
 * ECMA-48 and xterm: the alternate screen, the cursor, and lines that are cut at the right edge:
 * one that goes on in the next row would scroll the screen.
 */
const enterScreen = '\u001B[?1049h\u001B[?25l\u001B[?7l'
const leaveScreen = '\u001B[?7h\u001B[?25h\u001B[?1049l'
const home = '\u001B[H'
const clearLine = '\u001B[K'
const clearBelow = '\u001B[J'

/** `busbar top`: shows the running apps again and again, until Ctrl-C or q, or while it is read. */
export async function top(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  const ended = new AbortController()
  using _keys = endOnKey(ended)
  terminal.out.lost.addEventListener('abort', () => ended.abort(), { once: true })
  const isLive = terminal.out.isTerminal && flags.json !== true
  if (isLive) terminal.out.stream.write(enterScreen)
  try {
    for (let readings = 1; !ended.signal.aborted; readings++) {
      const text = await read(context)
      if (isLive) draw(context, text)
      else print(terminal.out, flags.json ? text : `${text}\n`)
      if (readings === flags.count) break
      await sleep(flags.interval ?? 1000, undefined, { signal: ended.signal }).catch(() => {})
    }
    return 0
  } finally {
    if (isLive) terminal.out.stream.write(leaveScreen)
  }
}

async function read(context: CommandContext): Promise<string> {
  const { operands, flags, terminal } = context
  const [named] = operands
  const found = named === undefined ? (await listRuns(terminal.env)).runs : await findRuns(named, context)
  const runs = found.map(({ status }) => status)
  if (flags.json) return JSON.stringify({ time: Date.now(), runs })
  if (named === undefined) return listText(runs, terminal.out)
  const edges = runs.flatMap((run) => edgeLines(run.edges, terminal.out, shownEdges))
  return [detailText(runs, terminal.out), ...edges].join('\n')
}

/** Only as many lines as the terminal has: more would scroll it. */
function draw({ terminal: { out } }: CommandContext, text: string): void {
  const lines = text.split('\n').slice(0, out.stream.rows - 1)
  out.stream.write(`${home}${lines.map((line) => `${line}${clearLine}\n`).join('')}${clearBelow}`)
}

/** A terminal in raw mode sends Ctrl-C as a key. */
function endOnKey(ended: AbortController): Disposable {
  const { stdin } = process
  const end = (): void => ended.abort()
  const ignoreSignals = onStopSignal(end)
  if (stdin.isTTY) {
    stdin.setRawMode(true)
    void readKeys(ended)
  }
  return {
    [Symbol.dispose]() {
      ended.abort()
      ignoreSignals()
      if (stdin.isTTY) stdin.setRawMode(false).pause()
    },
  }
}

async function readKeys(ended: AbortController): Promise<void> {
  try {
    for await (const [key] of on(process.stdin, 'data', { signal: ended.signal }))
      if (['q', 'Q', '\u0003', '\u0004'].includes(String(key))) ended.abort()
  } catch {
    // Aborted: the command ends.
  }
}
