import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { basename, resolve } from 'node:path'
import type { Arm } from './arm.ts'
import { Copy, type CopyOptions } from './protocol/copy.ts'
import { completed, likenessOf, type Likeness } from './protocol/parity.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { inWorkshop, type Workshop } from './workshop.ts'

/** A scenario made from a user's own app. */
export interface OwnApp {
  readonly scenario: Scenario
  /** It opens ports of its own, so that two copies cannot live side by side. */
  readonly oneAtATime: boolean
  readonly notes: readonly string[]
}

/** What `busbar check --json` tells. */
type Plan =
  | { readonly ok: false; readonly error: { readonly message: string; readonly hint?: string } }
  | {
      readonly ok: true
      readonly app: { readonly name: string }
      readonly listeners: readonly { readonly id: string; readonly url: string }[]
      readonly services: readonly { readonly path: string; readonly entry: string }[]
    }

const bin = createRequire(import.meta.url)
  .resolve('busbar/package.json')
  .replace(/package\.json$/, 'bin/busbar.js')

/**
 * The app of a folder as it is, under Busbar; beside it, where it is one program, that program under plain `node`. What it
 * answers now is what every answer must be.
 */
export async function ownApp(folder: string, { path, signal }: { path: string; signal: AbortSignal }): Promise<OwnApp> {
  const plan = await planOf(resolve(folder))
  if (plan.listeners.some(({ id, url }) => id === 'gateway' && url.startsWith('https:')))
    throw new Error(
      'the app’s gateway speaks TLS with a certificate that the lab does not know: measure it without `tls`',
    )
  const name = basename(resolve(folder))
  const under = underBusbar(resolve(folder), path)
  const [program, ...others] = plan.services
  const plain = program !== undefined && others.length === 0 ? plainNode(program, path) : undefined
  const answer = await inWorkshop((workshop) => firstAnswers(under, path, workshop, signal))
  const problem = plain && (await inWorkshop((workshop) => whyNot(plain, path, workshop, signal)))
  const arms = plain === undefined || problem !== undefined ? [under] : [plain, under]
  return {
    scenario: {
      name,
      question:
        arms.length === 1 ? `${name} under Busbar: how fast is ${path}?` : `${name} at ${path}: plain node, or Busbar?`,
      baseline: arms[0]!.name,
      arms,
      quick: { arms: arms.map((arm) => arm.name) },
      connections: [100],
      workers: [1],
      request: () => completed({ path }, answer),
    },
    oneAtATime: plan.listeners.some(({ id, url }) => id !== 'gateway' && !url.endsWith(':0')),
    notes: [
      ...(answer.body === null
        ? [`Its answers differ from each other, so only their status is held against the first.`]
        : []),
      ...(problem === undefined ? [] : [`Left out: the program under plain node, since ${problem}`]),
    ],
  }
}

async function planOf(folder: string): Promise<Extract<Plan, { ok: true }>> {
  const { promise, resolve } = Promise.withResolvers<string>()
  // A config that is wrong ends it with another code, and says so in what it prints.
  execFile(process.execPath, [bin, 'check', folder, '--json'], (error, stdout) =>
    resolve(stdout || error?.message || ''),
  )
  const printed = await promise
  const plan = printed.startsWith('{')
    ? (JSON.parse(printed) as Plan)
    : { ok: false as const, error: { message: printed } }
  if (plan.ok) return plan
  throw new Error([plan.error.message, plan.error.hint].filter(Boolean).join('\n'))
}

function underBusbar(folder: string, path: string): Arm {
  return {
    name: 'busbar',
    title: 'under Busbar',
    launch: ({ port, workers }) => {
      const flags = `--host 127.0.0.1 --port ${port} --workers ${workers} --log-level error`.split(' ')
      return {
        command: [process.execPath, bin, 'start', folder, '--once', ...flags],
        cwd: folder,
        target: { address: `127.0.0.1:${port}`, path },
      }
    },
  }
}

function plainNode({ path: cwd, entry }: { path: string; entry: string }, path: string): Arm {
  return {
    name: 'node',
    title: 'under plain node',
    single: true,
    launch: ({ port }) => ({
      command: [process.execPath, entry],
      cwd,
      env: { PORT: `${port}`, HOST: '127.0.0.1' },
      target: { address: `127.0.0.1:${port}`, path },
    }),
  }
}

async function firstAnswers(
  arm: Arm,
  path: string,
  workshop: Omit<CopyOptions, 'workers'>,
  signal: AbortSignal,
): Promise<Likeness> {
  const copy = await Copy.start(arm, { ...workshop, workers: 1, signal })
  try {
    return likenessOf([await copy.ask({ path }), await copy.ask({ path }), await copy.ask({ path })])
  } finally {
    await copy.end()
  }
}

/** Why the program cannot run by itself; undefined where it can. */
async function whyNot(arm: Arm, path: string, workshop: Workshop, signal: AbortSignal): Promise<string | undefined> {
  try {
    await firstAnswers(arm, path, { ...workshop, patienceMs: 10_000 }, signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    return `it must listen where PORT says: ${(error as Error).message.split('\n')[0]}`
  }
}
