/**
 * Runs the tests: each file in a process of its own, sources by type stripping. Arguments narrow the choice
 * (a file, a folder or a glob); flags such as `--test-name-pattern=x` reach the runner.
 */
import { spawn } from 'node:child_process'
import { glob, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

const args = process.argv.slice(2)
const flags = args.filter((arg) => arg.startsWith('-'))
const wanted = args.filter((arg) => !arg.startsWith('-'))
const files = await testFiles(wanted.length > 0 ? wanted : ['packages', 'examples', 'scripts', 'docs'])
if (files.length === 0) throw new Error(`no test file in ${wanted.join(', ')}`)

const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${availableParallelism()}`,
    '--test-timeout=120000',
    ...(process.env['CI'] === 'true' ? ['--test-reporter=spec'] : []),
    ...flags,
    ...files,
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      // Every process of a test, children and workers too, sees the sources and fails on what is left open.
      NODE_OPTIONS: [
        process.env['NODE_OPTIONS'],
        '--conditions=busbar-source',
        `--import=${new URL('../packages/busbar/test/support/strays.ts', import.meta.url).href}`,
      ]
        .filter(Boolean)
        .join(' '),
    },
  },
)
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))

async function testFiles(places: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const place of places) {
    const isFolder = await stat(place).then(
      (entry) => entry.isDirectory(),
      () => false,
    )
    const pattern = isFolder ? join(place, '**/*.test.ts') : place
    for await (const file of glob(pattern, { exclude: (name) => /(^|\/)(node_modules|dist|programs)$/.test(name) }))
      found.push(file)
  }
  return found.toSorted()
}
