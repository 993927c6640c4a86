type Steps = readonly [name: string, command: string, ...args: string[]][]

export const buildSteps: Steps = [
  ['build', 'tsc', '-b'],
  ['schema', 'node', 'scripts/emit-schema.ts'],
]

export const checkSteps: Steps = [
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'oxfmt', '--check', '.'],
  ['imports', 'node', 'scripts/check-imports.ts'],
]

export const testSteps: Steps = [['tests', 'node', 'scripts/run-tests.ts']]
