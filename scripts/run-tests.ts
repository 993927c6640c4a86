/**
 * Runs the tests: each file in a process of its own, sources by type stripping. Arguments narrow the choice
 * (a file, a folder or a glob); `--node=26` runs them on that line; other flags such as `--test-name-pattern=x` reach the
 * runner. Its summary is the last thing printed, unless processes were left running, which fails the run.
 */
import { spawn } from 'node:child_process'
import { glob, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { isNodeLine, nodeOf } from './node-lines.ts'
import { markRun, runningOf } from './stray-processes.ts'

const args = process.argv.slice(2)
const flags = args.filter((arg) => arg.startsWith('-') && !arg.startsWith('--node='))
const hasReporter = flags.some((flag) => flag.startsWith('--test-reporter='))
const node = chosenNode()
const wanted = args.filter((arg) => !arg.startsWith('-'))
const files = await testFiles(wanted.length > 0 ? wanted : ['packages', 'examples', 'scripts', 'docs'])
if (files.length === 0) throw new Error(`no test file in ${wanted.join(', ')}`)

const mark = markRun()
const code = await runTests()
process.exitCode = (await endStrays()) > 0 ? 1 : code

async function runTests(): Promise<number> {
  const strays = new URL('../packages/busbar/test/support/strays.ts', import.meta.url).href
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const child = spawn(
    node,
    [
      '--test',
      `--import=${strays}`,
      `--test-concurrency=${availableParallelism()}`,
      '--test-timeout=300000',
      ...(process.env['CI'] === 'true' && !hasReporter ? ['--test-reporter=spec'] : []),
      ...flags,
      ...files,
    ],
    { stdio: 'inherit', env: environment() },
  )
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, pass)
  child.on('error', reject)
  child.on('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)))
  return promise
}

function chosenNode(): string {
  const line = args.findLast((arg) => arg.startsWith('--node='))?.slice('--node='.length)
  if (line === undefined) return process.execPath
  if (!isNodeLine(line)) throw new Error(`--node=${line}: the lines are 24 and 26`)
  return nodeOf(line) ?? fail(`there is no Node ${line} for ${process.platform} ${process.arch} here`)
}

function fail(message: string): never {
  throw new Error(message)
}

/** What a test starts as `node` is the Node that runs it. */
function environment(): NodeJS.ProcessEnv {
  const path = [dirname(node), process.env['PATH']].filter(Boolean).join(delimiter)
  return { ...process.env, PATH: path, NODE_OPTIONS: nodeOptions() }
}

/** Every process of a test, children and workers too, imports this package from its sources. */
function nodeOptions(): string {
  return [process.env['NODE_OPTIONS'], '--conditions=busbar-source'].filter(Boolean).join(' ')
}

/** A file that hung was killed with its own check for strays undone; what it started is found and ended here. */
async function endStrays(): Promise<number> {
  const strays = await runningOf(mark)
  for (const { pid, command } of strays) {
    console.error(`✖ left running by a test: process ${pid} (${command})`)
    process.kill(pid, 'SIGKILL')
  }
  return strays.length
}

async function testFiles(places: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const place of places) {
    const kind = await stat(place).catch(() => undefined)
    if (kind?.isFile() === true) found.push(place)
    else
      for await (const file of glob(kind === undefined ? place : join(place, '**/*.test.ts'), { exclude }))
        found.push(file)
  }
  return found.toSorted()
}

/** Programs for tests may look like tests, and some are. */
function exclude(name: string): boolean {
  return /(^|\/)(node_modules|dist|programs)$/.test(name)
}
