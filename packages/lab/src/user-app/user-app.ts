import { basename, resolve } from 'node:path'
import { type Arm, type Launch, usualStopTime } from '../arm.ts'
import type { OwnRequests } from './own-requests.ts'
import { placementsOf, type Placement, type Varied } from './placements.ts'
import { busbarBin, type AppPlan, type PlannedService } from './app-plan.ts'
import { RunningArm, type RunningArmOptions } from '../protocol/running-arm.ts'
import { profileOf, type AnswerProfile } from '../protocol/parity.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { withWorkspace, type Workspace } from '../protocol/workspace.ts'

/** A scenario for a user's app. */
export interface UserApp {
  readonly scenario: Scenario
  /** True if the app has fixed ports, so that two arms cannot run at a time. */
  readonly oneAtATime: boolean
  readonly notes: readonly string[]
}

export interface UserAppOptions {
  readonly own: OwnRequests
  /** `placement`: also with all services shared, in threads, in processes. */
  readonly vary?: Varied | undefined
  readonly signal: AbortSignal
}

/**
 * Measures the app in a folder under Busbar, optionally with other placements. If it is one program
 * without TLS, it is also measured under plain `node`. All answers must equal those before the
 * load.
 */
export async function userAppScenario(place: string, { own, vary, signal }: UserAppOptions): Promise<UserApp> {
  const folder = resolve(place)
  const path = own.requests[0].path
  const { placements, notes } = await placementsOf(folder, vary)
  const { plan } = placements[0]
  const underBusbar = placements.map((placement) => busbarArm(placement, folder, own))
  const answers = await withWorkspace((workspace) => profileAnswers(underBusbar[0]!, own, workspace, signal))
  const [program, ...more] = plan.services
  const isPlain = program !== undefined && more.length === 0 && certificateOf(plan) === undefined
  const plain = isPlain ? plainNode(program, own) : undefined
  const problem = plain && (await withWorkspace((workspace) => problemOf(plain, own, workspace, signal)))
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
      // Each arm must repeat its own first answers, which are compared with the baseline's.
      request: () => own.requests[0],
      work: { requests: own.requests, weights: own.weights },
    },
    oneAtATime: plan.listeners.some(({ id, url }) => id !== 'gateway' && !url.endsWith(':0')),
    notes: [
      ...(answers.some(({ body }) => body === null)
        ? [`Its answers differ from each other, so only their status and headers are checked.`]
        : []),
      ...(problem === undefined ? [] : [`Left out: the program under plain node, since ${problem}`]),
      ...notes,
    ],
  }
}

function certificateOf({ listeners }: AppPlan): string | undefined {
  return listeners.find(({ id }) => id === 'gateway')?.certificate
}

function questionOf(name: string, path: string, arms: readonly Arm[], vary: Varied | undefined): string {
  if (vary !== undefined) return `${name} at ${path}: where should its services run?`
  return arms.length === 1 ? `${name} under Busbar: how fast is ${path}?` : `${name} at ${path}: plain node, or Busbar?`
}

function busbarArm({ name, title, plan, run }: Placement, folder: string, own: OwnRequests): Arm {
  const certificate = certificateOf(plan)
  const tls = certificate === undefined ? {} : { tls: true, certificate }
  return {
    name,
    title,
    // Without a shared worker, `--workers` multiplies nothing.
    single: !plan.places.some(({ kind }) => kind === 'shared'),
    stopTime: usualStopTime,
    launch: ({ port, workers }) => {
      const flags = `--host 127.0.0.1 --port ${port} --workers ${workers} --log-level error`.split(' ')
      const where = run === undefined ? [] : ['--run', run]
      return {
        command: [process.execPath, busbarBin, 'start', folder, '--once', ...flags, ...where],
        cwd: folder,
        target: { address: `127.0.0.1:${port}`, path: own.requests[0].path, ...tls },
        ...readyFor(own),
      }
    },
  }
}

function plainNode({ path: cwd, entry }: PlannedService, own: OwnRequests): Arm {
  return {
    name: 'node',
    title: 'under plain node',
    single: true,
    stopTime: usualStopTime,
    launch: ({ port }) => ({
      command: [process.execPath, entry],
      cwd,
      env: { PORT: `${port}`, HOST: '127.0.0.1' },
      target: { address: `127.0.0.1:${port}`, path: own.requests[0].path },
      ...readyFor(own),
    }),
  }
}

/** A program need not answer GET at a path of other requests. */
function readyFor({ isPlain }: OwnRequests): Pick<Launch, 'ready'> {
  return isPlain ? {} : { ready: { status: 'any', ports: [] } }
}

async function profileAnswers(
  arm: Arm,
  { requests }: OwnRequests,
  workspace: Omit<RunningArmOptions, 'workers'>,
  signal: AbortSignal,
): Promise<AnswerProfile[]> {
  const running = await RunningArm.start(arm, { ...workspace, workers: 1, signal })
  try {
    const profiles = []
    for (const request of requests)
      profiles.push(profileOf([await running.ask(request), await running.ask(request), await running.ask(request)]))
    return profiles
  } finally {
    await running.end()
  }
}

/** Why the program cannot run under plain node. Undefined if it can. */
async function problemOf(
  arm: Arm,
  own: OwnRequests,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await profileAnswers(arm, own, workspace, signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    const [what] = (error as Error).message.split('\n')
    return what!.includes('not at ') ? `it must listen on the port in PORT: ${what}` : what
  }
}
