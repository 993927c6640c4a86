/**
 * Runs the tests, each file in its own process, from sources by type stripping. Arguments select
 * files, folders or globs. `--node=26` selects the release line, `--without=FILE` leaves a file
 * out, and other flags, such as `--test-name-pattern=x`, go to the runner. Leaked processes fail
 * the run.
 */
import { spawn } from 'node:child_process'
import { glob, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNodeLine, nodeBinary } from './node-lines.ts'
import { markRun, processesOf } from './leaked-processes.ts'

const args = process.argv.slice(2)
const flags = args.filter((arg) => arg.startsWith('-') && !/^--(?:node|without)=/.test(arg))
const node = chosenNode()
const wanted = args.filter((arg) => !arg.startsWith('-'))
const leftOut = new Set(args.flatMap((arg) => /^--without=(.+)$/.exec(arg)?.[1] ?? []))
const found = await testFiles(wanted.length > 0 ? wanted : ['packages', 'examples', 'scripts', 'docs'])
const files = found.filter((file) => !leftOut.has(file))
if (found.length - files.length !== leftOut.size) throw new Error(`not all found: ${[...leftOut].join(', ')}`)
if (files.length === 0) throw new Error(`no test file in ${wanted.join(', ')}`)

const mark = markRun()
const code = await runTests()
process.exitCode = endLeakedProcesses() > 0 ? 1 : code

async function runTests(): Promise<number> {
  const preload = new URL('../packages/busbar/test/support/preload.ts', import.meta.url).href
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const child = spawn(
    node,
    [
      '--test',
      `--import=${preload}`,
      `--test-concurrency=${availableParallelism() + 2}`,
      '--test-timeout=300000',
      ...reporters(),
      ...flags.filter((flag) => !isReporter(flag)),
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

/** The reporter that a flag names, else `spec`, and the one that explains crashes. */
function reporters(): string[] {
  const given = flags.filter((flag) => isReporter(flag))
  // The reporter of failures explains them itself. A destination must follow each reporter.
  if (given.some((flag) => /failures-reporter|^--test-reporter-destination/.test(flag))) return given
  const crashes = `--test-reporter=${new URL('crash-reporter.ts', import.meta.url).href}`
  const all = [...(given.length > 0 ? given : ['--test-reporter=spec']), crashes]
  return all.flatMap((flag) => [flag, '--test-reporter-destination=stdout'])
}

function isReporter(flag: string): boolean {
  return flag.startsWith('--test-reporter')
}

function chosenNode(): string {
  const line = args.findLast((arg) => arg.startsWith('--node='))?.slice('--node='.length)
  if (line === undefined) return process.execPath
  if (!isNodeLine(line)) throw new Error(`--node=${line}: the release lines are 24 and 26`)
  return nodeBinary(line) ?? fail(`Node ${line} is not installed for ${process.platform} ${process.arch}`)
}

function fail(message: string): never {
  throw new Error(message)
}

/**
 * `node` on PATH is the Node that runs the tests. The processes of tests load the same sources,
 * some thousand times: with Node's compile cache they take a third less CPU time.
 */
function environment(): NodeJS.ProcessEnv {
  const path = [dirname(node), process.env['PATH']].filter(Boolean).join(delimiter)
  const NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
  return { NODE_COMPILE_CACHE, ...process.env, PATH: path, NODE_OPTIONS: nodeOptions() }
}

/** All processes of tests import this package from its sources. */
function nodeOptions(): string {
  return [process.env['NODE_OPTIONS'], '--conditions=busbar-source'].filter(Boolean).join(' ')
}

/** Finds processes of files that were killed before their own leak check. */
function endLeakedProcesses(): number {
  const leaked = processesOf(mark)
  for (const { pid, command } of leaked) {
    console.error(`✖ left running by a test: process ${pid} (${command})`)
    process.kill(pid, 'SIGKILL')
  }
  return leaked.length
}

async function testFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const kind = await stat(path).catch(() => undefined)
    if (kind?.isFile() === true) found.push(path)
    else
      for await (const file of glob(kind === undefined ? path : join(path, '**/*.test.ts'), { exclude }))
        found.push(file)
  }
  return found.toSorted()
}

/** Programs that tests host may look like tests. */
function exclude(name: string): boolean {
  return /(^|\/)(node_modules|dist|programs)$/.test(name)
}
