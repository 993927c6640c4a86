/**
 * A reporter that prints only failed tests, the standard error of their files, and a summary line.
 * For runs after one with a complete report, such as those on the second Node.
 */
import type { TestEvent } from 'node:test/reporters'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { endOf, type FileFailure } from './crash-reporter.ts'

export default async function* reportFailures(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const stderr = new Map<string, string>()
  for await (const { type, data } of source) {
    if (type === 'test:stderr') {
      // The path as the runner was given it. Other events have the absolute one.
      const file = resolve(data.file)
      stderr.set(file, (stderr.get(file) ?? '') + data.message)
    } else if (type === 'test:fail') yield failureText(data)
    else if (type === 'test:summary' && data.file === undefined) yield stderrText(stderr) + summaryText(data)
    else if (type === 'test:summary' && data.success) stderr.delete(data.file!)
  }
}

function failureText({ name, file, line, todo, details }: EventData<'test:fail'>): string {
  const error = details.error as Error & FileFailure
  const end = endOf(error)
  if (end !== undefined) return `✖ ${name}: ${end}\n`
  // The failed subtest is already printed.
  if (todo !== undefined || error.failureType === 'subtestsFailed') return ''
  return `✖ ${name} (${file}:${line})\n${inspect(error.cause ?? error).replaceAll(/^/gm, '  ')}\n`
}

/** Of failed files. A file that crashed has no summary of its own. */
function stderrText(stderr: ReadonlyMap<string, string>): string {
  return [...stderr].map(([file, text]) => `Standard error of ${file}:\n${text}\n`).join('')
}

function summaryText({ counts, duration_ms, success }: EventData<'test:summary'>): string {
  const { tests, passed, cancelled, skipped } = counts
  const others = tests - passed - cancelled - skipped - counts.todo
  return `${success ? '✔' : '✖'} Node ${process.versions.node}: ${tests} tests, ${passed} passed, ${others} failed, ${cancelled} cancelled, ${skipped} skipped, ${Math.round(duration_ms / 1000)} s\n`
}

type EventData<T extends TestEvent['type']> = Extract<TestEvent, { type: T }>['data']
