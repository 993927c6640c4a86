import { basename, resolve } from 'node:path'
import type { Arm } from './arm.ts'
import type { Varied } from './options.ts'
import { placementsOf, type Placement } from './own-placements.ts'
import { bin, type Plan, type PlannedService } from './own-plan.ts'
import { Copy, type CopyOptions } from './protocol/copy.ts'
import { likenessOf, type Likeness } from './protocol/parity.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { inWorkshop, type Workshop } from './workshop.ts'

/** A scenario made from a user's own app. */
export interface OwnApp {
  readonly scenario: Scenario
  /** It opens ports of its own, so that two copies cannot live side by side. */
  readonly oneAtATime: boolean
  readonly notes: readonly string[]
}

export interface OwnAppOptions {
  readonly path: string
  /** `placement`: besides as it is, with all of its services shared, in threads, in processes. */
  readonly vary?: Varied | undefined
  readonly signal: AbortSignal
}

/**
 * The app of a folder as it is, under Busbar; beside it, where it is one program without TLS, that program under plain
 * `node`. What a copy answers before it is loaded is what its every answer must be.
 */
export async function ownApp(place: string, { path, vary, signal }: OwnAppOptions): Promise<OwnApp> {
  const folder = resolve(place)
  const { placements, notes } = await placementsOf(folder, vary)
  const { plan } = placements[0]
  const underBusbar = placements.map((placement) => placed(placement, folder, path))
  const answer = await inWorkshop((workshop) => firstAnswers(underBusbar[0]!, path, workshop, signal))
  const [program, ...more] = plan.services
  const isPlain = program !== undefined && more.length === 0 && certificateOf(plan) === undefined
  const plain = isPlain ? plainNode(program, path) : undefined
  const problem = plain && (await inWorkshop((workshop) => whyNot(plain, path, workshop, signal)))
  const arms = [...(plain === undefined || problem !== undefined ? [] : [plain]), ...underBusbar]
  const name = basename(folder)
  return {
    scenario: {
      name,
      question: questionOf(name, path, arms, vary),
      baseline: arms[0]!.name,
      arms,
      quick: { arms: arms.map((arm) => arm.name) },
      connections: [100],
      workers: [1],
      // Each arm is held to what its own copy answers, and that to the baseline's: an arm that differs makes no other invalid.
      request: () => ({ path }),
    },
    oneAtATime: plan.listeners.some(({ id, url }) => id !== 'gateway' && !url.endsWith(':0')),
    notes: [
      ...(answer.body === null
        ? [`Its answers differ from each other, so only their status and headers are held against the first.`]
        : []),
      ...(problem === undefined ? [] : [`Left out: the program under plain node, since ${problem}`]),
      ...notes,
      ...uncounted(plan),
    ],
  }
}

/** Of a gateway that speaks TLS. */
function certificateOf({ listeners }: Plan): string | undefined {
  return listeners.find(({ id }) => id === 'gateway')?.certificate
}

function questionOf(name: string, path: string, arms: readonly Arm[], vary: Varied | undefined): string {
  if (vary !== undefined) return `${name} at ${path}: where should its services run?`
  return arms.length === 1 ? `${name} under Busbar: how fast is ${path}?` : `${name} at ${path}: plain node, or Busbar?`
}

/** A command has a session of its own, where the lab does not look. */
function uncounted({ places }: Plan): string[] {
  const names = new Set(places.filter(({ kind }) => kind === 'command').flatMap(({ hosts }) => hosts))
  if (names.size === 0) return []
  return [`Commands (${[...names].join(', ')}) are not in the CPU time and memory, and not stopped between slices.`]
}

function placed({ name, title, plan, run }: Placement, folder: string, path: string): Arm {
  const certificate = certificateOf(plan)
  const tls = certificate === undefined ? {} : { tls: true, certificate }
  return {
    name,
    title,
    // Without a shared worker, `--workers` multiplies nothing.
    single: !plan.places.some(({ kind }) => kind === 'shared'),
    launch: ({ port, workers }) => {
      const flags = `--host 127.0.0.1 --port ${port} --workers ${workers} --log-level error`.split(' ')
      const where = run === undefined ? [] : ['--run', run]
      return {
        command: [process.execPath, bin, 'start', folder, '--once', ...flags, ...where],
        cwd: folder,
        target: { address: `127.0.0.1:${port}`, path, ...tls },
      }
    },
  }
}

function plainNode({ path: cwd, entry }: PlannedService, path: string): Arm {
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
    await firstAnswers(arm, path, workshop, signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    const [what] = (error as Error).message.split('\n')
    return what!.includes('not at ') ? `it must listen where PORT says: ${what}` : what
  }
}
