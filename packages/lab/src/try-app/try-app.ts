import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Arm } from '../arm.ts'
import { reasonText } from '../report/reason.ts'
import type { Timing } from '../protocol/plan.ts'
import { isFree } from '../protocol/ports.ts'
import type { Progress } from '../protocol/session.ts'
import { NoAnswerError } from '../protocol/client/await-answer.ts'
import { withWorkspace, type Workspace } from '../protocol/workspace.ts'
import { busbarArms } from './busbar-arms.ts'
import { compareAnswers } from './compare-answers.ts'
import { measurable } from './measurable.ts'
import { generatorKind, measure, type Measured } from './measure.ts'
import { replay, type Samples } from './replay.ts'
import { scheduleArms, type Schedule } from './schedule.ts'
import { shownBy } from './shown-by-start.ts'
import { todayArm } from './today-arm.ts'
import type { ComparedRequest, Learned, Prepare, Tried, TriedApp, TriedRequest } from './tried-app.ts'

export interface TryOptions {
  readonly signal: AbortSignal
  /** A sentence for each step. */
  readonly onStep?: (text: string) => void
  readonly onProgress?: (progress: Progress) => void
  /** Overrides that of a quick run. */
  readonly timing?: Partial<Timing>
}

/**
 * Runs an app as today and under Busbar, compares its answers, and measures the arms whose answers
 * are the same. `prepare` may write into the given folder, which is removed. Rejects after an abort
 * before the measurements, when everything has ended.
 */
export async function tryApp(prepare: Prepare, options: TryOptions): Promise<Tried> {
  return await withWorkspace(async (workspace) => {
    const folder = join(workspace.folder, 'app')
    await mkdir(folder)
    const again = (learned: Learned): Promise<TriedApp> => prepare(folder, learned)
    const app = await again(nothing)
    options.signal.throwIfAborted()
    await checkPorts(app)
    return await new Trial(app, again, workspace, options).run()
  })
}

/** Another server there would answer instead. */
async function checkPorts({ today, exposed }: TriedApp): Promise<void> {
  const fixed = new Set(
    [...today.map(({ port }) => port), ...Object.values(exposed)].filter((port) => port !== undefined),
  )
  for (const port of fixed)
    if (!(await isFree(port))) throw new Error(`port ${port} is in use: stop what listens there, then try again`)
}

interface Replayed {
  readonly arm: Arm
  /** By request. A text: why the arm could not be started. */
  readonly samples: readonly Samples[] | string
  /** It ran, but not where it was asked. */
  readonly noAnswer?: NoAnswerError
}

const nothing: Learned = { ports: {}, silent: [], problems: [] }

/** An arm that could be started. */
type Started = Replayed & { readonly samples: readonly Samples[] }

class Trial {
  #app: TriedApp
  #learned: Learned = nothing
  readonly #prepare: (learned: Learned) => Promise<TriedApp>
  readonly #workspace: Workspace
  readonly #options: TryOptions

  constructor(
    app: TriedApp,
    prepare: (learned: Learned) => Promise<TriedApp>,
    workspace: Workspace,
    options: TryOptions,
  ) {
    this.#app = app
    this.#prepare = prepare
    this.#workspace = workspace
    this.#options = options
  }

  async run(): Promise<Tried> {
    const path = pathOf(this.#app)
    const replayed = await this.#replayToday(path)
    const app = this.#app
    const { arms: placed, notes } = await busbarArms(app, path)
    for (const arm of placed) replayed.push(await this.#replayPlaced(arm))
    const [baseline, ...others] = replayed.filter(({ samples }) => typeof samples !== 'string') as Started[]
    // Another start shows what is never the same, and the time has passed by now.
    const again = baseline === undefined ? undefined : await this.#replay(baseline.arm)
    const starts = [baseline, again].filter((one) => one !== undefined && typeof one.samples !== 'string') as Started[]
    const compared = new Map(replayed.map((one) => [one.arm.name, this.#compare(one, starts)]))
    const running = baseline === undefined ? [] : [baseline, ...others].map(({ arm }) => arm)
    const answers = running.map(({ name }) => compared.get(name)!)
    const { requests, why } = measurable({ ...this.#app, answers })
    const schedule = await this.#schedule(running, requests, starts)
    const measured = schedule === undefined ? undefined : await this.#measure(schedule, requests)
    return {
      arms: replayed.map(({ arm, samples }) => ({
        name: arm.name,
        title: arm.title,
        problem: typeof samples === 'string' ? samples : null,
        answers: compared.get(arm.name)!,
        figures: measured?.figures.get(arm.name) ?? null,
      })),
      notes: [
        ...(app.notToday === undefined ? [] : [`As today: left out, since ${app.notToday}.`]),
        ...notes,
        ...(why === undefined ? [] : [`Not measured: ${why}.`]),
        ...(schedule?.notes ?? []),
        ...(measured?.notes ?? []),
      ],
      generator: requests.length === 0 ? null : generatorKind(),
      measured: requests.length,
      foundPorts: this.#learned.ports,
    }
  }

  /** None if the services cannot run as today. */
  async #replayToday(path: string): Promise<Replayed[]> {
    if (this.#app.notToday !== undefined) return []
    for (;;) {
      const found = await this.#replay(todayArm(this.#app, path))
      if (found.noAnswer === undefined) return [found]
      const { ports, silent } = this.#learned
      const shown = shownBy(found.noAnswer, this.#app, ports)
      const [moving] = shown.moving
      if (moving !== undefined) {
        const fixed = Object.entries(ports).filter(([name]) => !shown.moving.includes(name))
        await this.#learn({ ports: Object.fromEntries(fixed) })
        const samples = `${moving} has another port at each start, so it cannot be asked: let it listen on the variable PORT`
        return [{ ...found, samples }]
      }
      const more = { ports: { ...ports, ...shown.ports }, silent: [...silent, ...shown.silent] }
      if (!(await this.#learn(more))) return [found]
    }
  }

  /** A start that fails may show what has to start first. */
  async #replayPlaced(arm: Arm): Promise<Replayed> {
    for (;;) {
      const found = await this.#replay(arm)
      const { problems } = this.#learned
      if (typeof found.samples !== 'string' || !(await this.#learn({ problems: [...problems, found.samples] })))
        return found
    }
  }

  /** False: that changes nothing. */
  async #learn(more: Partial<Learned>): Promise<boolean> {
    this.#learned = { ...this.#learned, ...more }
    const before = this.#app
    this.#app = await this.#prepare(this.#learned)
    return this.#app !== before
  }

  async #replay(arm: Arm): Promise<Replayed> {
    const { signal, onStep } = this.#options
    signal.throwIfAborted()
    onStep?.(`comparing answers: ${arm.title}`)
    const portOf = (service: string): number | undefined =>
      arm.name === 'today' ? this.#app.today.find(({ name }) => name === service)?.port : this.#app.exposed[service]
    try {
      const { requests } = this.#app
      return { arm, samples: await replay(arm, { requests, workspace: this.#workspace, signal, portOf }) }
    } catch (error) {
      signal.throwIfAborted()
      const noAnswer = error instanceof NoAnswerError ? { noAnswer: error } : {}
      return { arm, samples: reasonText((error as Error).message), ...noAnswer }
    }
  }

  #compare({ samples }: Replayed, starts: readonly Started[]): ComparedRequest[] {
    if (typeof samples === 'string') return []
    const { requests, entry } = this.#app
    return requests.map(({ service = entry, method, path }, index) => {
      const here = samples[index]!
      const [answer] = here
      const expected = starts.map((start) => start.samples[index]!)
      const status = typeof answer === 'object' ? answer.status : null
      return { service, method, path, status, ...compareAnswers(expected, here) }
    })
  }

  /** Undefined: nothing is measured. `starts`: of the baseline. */
  async #schedule(
    [baseline, ...others]: readonly Arm[],
    requests: readonly TriedRequest[],
    starts: readonly Started[],
  ): Promise<Schedule | undefined> {
    const { budgetMs, beside, connections, requests: all } = this.#app
    if (baseline === undefined || requests.length === 0 || budgetMs === 0) return undefined
    const { signal, onStep } = this.#options
    onStep?.('measuring')
    return await scheduleArms({
      arms: [baseline, ...others],
      beside,
      path: pathOf(this.#app),
      requests,
      expected: requests.map((request) => starts.map(({ samples }) => samples[all.indexOf(request)]!)),
      connections,
      workspace: this.#workspace,
      signal,
    })
  }

  async #measure(schedule: Schedule, requests: readonly TriedRequest[]): Promise<Measured> {
    const [first, ...more] = requests
    const { signal, onProgress = () => {}, timing = {} } = this.#options
    return await measure({ app: this.#app, schedule, requests: [first!, ...more], timing, signal, onProgress })
  }
}

/** Where the gateway is asked whether it has started. */
function pathOf({ entry, requests }: TriedApp): string {
  return requests.find(({ service = entry }) => service === entry)?.path ?? '/'
}
