/** What a reader of the page must know besides its tables. */
import type { PreparedTrial } from '../../../adopt/trying/prepare-trial.ts'
import { hasStartCycle } from '../../../adopt/trying/start-needs.ts'
import type { Tried } from './lab.ts'

export interface NotedTrial extends Pick<PreparedTrial, 'app' | 'calls' | 'documents' | 'today'> {
  /** Services that did not start under Busbar while those that they call were starting too. */
  readonly startCallers: ReadonlySet<string>
  /** Calls to ports of services went through the mesh. */
  readonly rewritten: boolean
}

/** Sentences. */
export function notesOf(tried: Tried, trial: NotedTrial): string[] {
  return [
    ...withoutAnswers(tried),
    ...callsAtStart(tried, trial),
    ...severalInstances(tried, trial),
    ...tried.notes,
    ...operations(trial),
  ]
}

function withoutAnswers({ arms }: Tried): string[] {
  const answered = arms.flatMap(({ answers }) => answers)
  const isFault = answered.length > 0 && answered.every(({ status }) => status !== null && status >= 500)
  const unsteady = (arms[0]?.answers ?? []).flatMap(({ method, path, ignored }) =>
    ignored.some(({ part }) => part === 'answer')
      ? [`${method} ${path} was not answered each time, as today too.`]
      : [],
  )
  const faulty = isFault
    ? [`Every answer was a ${answered[0]!.status}: start what the services need, such as databases, and try again.`]
    : []
  return [...faulty, ...unsteady]
}

/** What helps services that call others while they start. */
function callsAtStart({ arms }: Tried, { calls, startCallers, rewritten }: NotedTrial): string[] {
  if (!arms.some(({ name, problem }) => name !== 'today' && problem !== null)) return []
  if (hasStartCycle(calls, startCallers))
    return [
      `${new Intl.ListFormat('en').format(startCallers)} call each other while they start, so none can start first: let them try again until the other answers.`,
    ]
  if (rewritten || calls.every(({ variable }) => variable !== undefined)) return []
  return [
    'Under Busbar the ports of services open when all have started. One that calls another while it starts needs its name, or --rewrite-localhost.',
  ]
}

/** Only a service manager runs a program several times. As today there is none. */
function severalInstances({ arms }: Tried, { app, today }: NotedTrial): string[] {
  if (!arms.some(({ name, problem }) => name === 'today' && problem === null)) return []
  const names = new Set(today.services.map(({ name }) => name))
  return app.services.flatMap(({ name, instances }) =>
    instances > 1 && names.has(name)
      ? [`${name} has ${instances} instances under Busbar, and one process as today.`]
      : [],
  )
}

function operations({ documents }: NotedTrial): string[] {
  return documents.flatMap(({ service, leftOut }) =>
    leftOut.length === 0
      ? []
      : [
          `${service}: ${leftOut.length} operations of its OpenAPI document were not requested, since they change data or have no example: give them by --requests.`,
        ],
  )
}
