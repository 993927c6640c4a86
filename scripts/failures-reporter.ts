/**
 * Prints the tests that fail, with what their file wrote to standard error, and one line at the end: for a run on a second
 * Node, behind one whose report names every test.
 */
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export default async function* reportFailures(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const stderr = new Map<string, string>()
  for await (const { type, data } of source) {
    if (type === 'test:stderr') stderr.set(data.file, (stderr.get(data.file) ?? '') + data.message)
    else if (type === 'test:fail') yield failureText(data)
    else if (type === 'test:summary' && data.file === undefined) yield stderrText(stderr) + summaryText(data)
    else if (type === 'test:summary' && data.success) stderr.delete(data.file!)
  }
}

function failureText({ name, file, line, todo, details }: EventData<'test:fail'>): string {
  const error = details.error as Error & { failureType?: string }
  // The test inside has been printed.
  if (todo !== undefined || error.failureType === 'subtestsFailed') return ''
  return `✖ ${name} (${file}:${line})\n${inspect(error.cause ?? error).replaceAll(/^/gm, '  ')}\n`
}

/** A file that crashed has no summary of its own. */
function stderrText(stderr: ReadonlyMap<string, string>): string {
  return [...stderr].map(([file, text]) => `Standard error of ${file}:\n${text}\n`).join('')
}

function summaryText({ counts, duration_ms, success }: EventData<'test:summary'>): string {
  const { tests, passed, cancelled, skipped } = counts
  const others = tests - passed - cancelled - skipped - counts.todo
  return `${success ? '✔' : '✖'} Node ${process.versions.node}: ${tests} tests, ${passed} passed, ${others} failed, ${cancelled} cancelled, ${skipped} skipped, ${Math.round(duration_ms / 1000)} s\n`
}

type EventData<T extends TestEvent['type']> = Extract<TestEvent, { type: T }>['data']
