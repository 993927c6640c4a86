/**
 * A reporter beside another one. For each test file whose process failed as a whole, it prints how
 * the process ended and the last lines of its standard error: Node's own reporters only print
 * `'test failed'`.
 */
import { relative, resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { setImmediate as nextTurn } from 'node:timers/promises'

const maxLines = 40
/** Characters of the standard error of a file that are kept. */
const maxKept = 16_384

/** How `node:test` reports the end of a file's process. */
export interface FileFailure {
  readonly failureType?: string
  readonly exitCode?: number | null
  readonly signal?: NodeJS.Signals | null
}

export default async function* reportCrashes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const crashes = new Crashes()
  for await (const event of source) crashes.observe(event)
  // Behind the summary of the other reporter, which ends in the same turn.
  await nextTurn()
  yield crashes.text()
}

/** The files whose processes failed as a whole. */
class Crashes {
  readonly #stderr = new Map<string, string>()
  readonly #ends = new Map<string, string>()

  observe({ type, data }: TestEvent): void {
    if (type === 'test:stderr') {
      // The path as the runner was given it. Other events have the absolute one.
      const file = resolve(data.file)
      this.#stderr.set(file, ((this.#stderr.get(file) ?? '') + data.message).slice(-maxKept))
    } else if (type === 'test:fail' && data.file !== undefined) {
      const end = endOf(data.details.error as FileFailure)
      if (end !== undefined) this.#ends.set(data.file, end)
    }
  }

  text(): string {
    return [...this.#ends].map(([file, end]) => `\n✖ ${relative('', file)}: ${end}\n${this.#tailOf(file)}`).join('')
  }

  #tailOf(file: string): string {
    const lines = (this.#stderr.get(file) ?? '').trimEnd().split('\n').slice(-maxLines)
    if (lines.join('') === '') return '  it wrote nothing to its standard error\n'
    return `  the last lines of its standard error:\n${lines.map((line) => `    ${line}\n`).join('')}`
  }
}

/** Undefined if the process ended as it does after a failed test, whose reason is reported. */
export function endOf({ failureType, exitCode, signal }: FileFailure): string | undefined {
  if (exitCode === undefined) return undefined
  if (signal != null) return `its process was ended by ${signal}`
  return failureType === 'subtestsFailed' && exitCode === 1 ? undefined : `its process ended with exit code ${exitCode}`
}
