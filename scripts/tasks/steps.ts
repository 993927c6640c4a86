import { fileURLToPath } from 'node:url'
import { type NodeLine, nodeBinary } from '../node-lines.ts'

export type Steps = readonly [name: string, command: string, ...args: string[]][]

/** Builds the product only. Tests and examples are type-checked, not built. */
export const buildSteps: Steps = [
  ['build', 'tsc', '-b', 'packages/busbar'],
  ['schema', 'node', 'scripts/emit-schema.ts'],
  ['page', 'node', 'scripts/emit-reference-page.ts'],
  ['dashboard', 'vite', 'build', 'packages/dashboard', '--logLevel', 'warn'],
]

export const labSteps: Steps = [['lab', 'tsc', '-b', 'packages/lab', 'packages/lab/arms']]

/** Below `node_modules`, so that the unpacked package finds its dependencies. */
export const packagesForTests = fileURLToPath(new URL('../../node_modules/.cache/packages', import.meta.url))

/** Read by tests (`packages/busbar/test/support/app/packages.ts`). */
export const withPackages = { BUSBAR_TEST_PACKAGES: packagesForTests } as const

export const packSteps: Steps = [['packages', 'node', 'scripts/tasks/pack-for-tests.ts']]

export const checkSteps: Steps = [
  ['types', 'tsc', '-b'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'oxfmt', '--check', '.'],
  ['imports', 'node', 'scripts/checks/check-imports.ts'],
  ['undocumented names', 'node', 'scripts/checks/check-undocumented.ts'],
  ['retired names', 'node', 'scripts/checks/check-names.ts'],
  ['comments', 'node', 'scripts/checks/check-comments.ts'],
]

/** For additional runs of tests: prints failures and a summary line. */
export const failuresOnly = '--test-reporter=./scripts/failures-reporter.ts'

/** The suites that depend most on Node. */
export const semanticsSuites = ['mesh', 'gateway', 'worker', 'raw', 'typed'].map(
  (name) => `packages/busbar/test/${name}`,
)

/** Documented APIs of Node only (docs/guides/scale/accelerators.md). */
export const withoutAccelerators = { BUSBAR_ACCELERATORS: 'none' } as const

/** Agents of older versions of undici, which the complete run of `npm test` has. */
const olderAgents = [6, 7].map((major) => `--without=packages/busbar/test/mesh/http/to-host/undici${major}.test.ts`)

/**
 * The suites that compare with TCP and plain Node. `npm test` has time only for these on Node 26.
 */
export const comparingSuites = [
  ...['mesh', 'worker', 'raw'].map((name) => `packages/busbar/test/${name}`),
  ...olderAgents,
]

/**
 * Those whose calls an accelerator would carry. `npm test` runs them without accelerators, too;
 * `npm run test:full` all semantics suites.
 */
export const acceleratedSuites = [
  ...['mesh/conformance', 'mesh/http', 'mesh/sockets', 'raw/placements.test.ts'].map(
    (name) => `packages/busbar/test/${name}`,
  ),
  ...olderAgents,
]

/**
 * What `npm test` leaves to `npm run test:full`: each waits for minutes until faults pass, starts
 * an app for each of many settings, learns and measures a user's services several times, or looks
 * at every page in each of many views.
 */
export const longSuites = [
  'packages/busbar/test/accelerators/combined.test.ts',
  'packages/busbar/test/browser/dashboard/every-view.test.ts',
  'packages/busbar/test/hosts/fault-run.test.ts',
  'packages/busbar/test/observe/metrics/retries.test.ts',
  'packages/busbar/test/queues/cluster-faults.test.ts',
  'packages/busbar/test/supervisor/accept/descriptors.test.ts',
  'packages/lab/test/scenarios/arms.test.ts',
  'packages/lab/test/stats/faults-in-slices.test.ts',
  'packages/lab/test/try-app/learning.test.ts',
  'packages/lab/test/try-app/services-today.test.ts',
  'packages/lab/test/try-app/side-by-side.test.ts',
  'packages/lab/test/try-app/try-command.test.ts',
  'packages/lab/test/user-app/user-app.test.ts',
]

/** The suites whose requests come through the gateway's port. */
export const gatewaySuites = ['gateway', 'raw', 'grpc'].map((name) => `packages/busbar/test/${name}`)

/** Skipped on a platform without a package for this release line. */
export function testStepsOn(line: NodeLine, name: string, suites: readonly string[]): Steps {
  if (nodeBinary(line) !== undefined)
    return [[`${name} on Node ${line}`, 'node', 'scripts/run-tests.ts', `--node=${line}`, failuresOnly, ...suites]]
  console.error(`– ${name} on Node ${line} skipped: not available for ${process.platform} ${process.arch}`)
  return []
}
