import { type NodeLine, nodeOf } from '../node-lines.ts'

export type Steps = readonly [name: string, command: string, ...args: string[]][]

/** The product alone: what its tests and examples need is checked, not built. */
export const buildSteps: Steps = [
  ['build', 'tsc', '-b', 'packages/busbar'],
  ['schema', 'node', 'scripts/emit-schema.ts'],
  ['page', 'node', 'scripts/emit-reference-page.ts'],
]

export const labSteps: Steps = [['lab', 'tsc', '-b', 'packages/lab', 'packages/lab/arms']]

export const checkSteps: Steps = [
  ['types', 'tsc', '-b'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'oxfmt', '--check', '.'],
  ['imports', 'node', 'scripts/check-imports.ts'],
  ['undocumented names', 'node', 'scripts/check-undocumented.ts'],
]

/** For a second run of tests: only those that fail, and one line at the end. */
export const failuresOnly = '--test-reporter=./scripts/failures-reporter.ts'

/** How a call arrives, how it is carried, what comes back: what depends most on the Node below. */
export const semanticsSuites = ['mesh', 'gateway', 'worker', 'raw', 'typed'].map(
  (name) => `packages/busbar/test/${name}`,
)

/** The documented APIs of Node alone (docs/guides/accelerators.md). */
export const withoutAccelerators = { BUSBAR_ACCELERATORS: 'none' } as const

/** Those that compare with TCP, with plain Node and with each other: what a push has time for without accelerators. */
export const comparingSuites = ['mesh', 'worker', 'raw'].map((name) => `packages/busbar/test/${name}`)

/** Of a line that comes second. Not every platform has a package of it. */
export function testStepsOn(line: NodeLine, name: string, suites: readonly string[]): Steps {
  if (nodeOf(line) !== undefined)
    return [[`${name} on Node ${line}`, 'node', 'scripts/run-tests.ts', `--node=${line}`, failuresOnly, ...suites]]
  console.error(`– ${name} on Node ${line} skipped: there is none for ${process.platform} ${process.arch}`)
  return []
}
