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

export const testSteps: Steps = [['tests', 'node', 'scripts/run-tests.ts']]
