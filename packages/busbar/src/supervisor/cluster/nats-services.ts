/**
 * Answers `$SRV.PING`, `$SRV.INFO` and `$SRV.STATS`, the requests of NATS's services framework
 * (ADR-32 of its architecture), so that tools such as `nats micro ls` show the services of apps.
 * The counts are those of `busbar ps`.
 */
import type { AppStatus } from '../../observe/app-status.ts'
import type { ClusterService } from '../../shared/cluster/announcement.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'

export interface ServiceRequestsParts {
  readonly subjects: ClusterSubjects
  /** The id of this app's host. */
  readonly host: string
  readonly app: () => { readonly name: string; readonly version?: string | undefined }
  readonly status: () => AppStatus
  /** What the app offers at this moment. */
  readonly services: () => readonly ClusterService[]
}

const verbs = ['PING', 'INFO', 'STATS'] as const
type Verb = (typeof verbs)[number]

/** The framework asks for a semantic version. */
const semantic = /^\d+\.\d+\.\d+([-+].*)?$/

/** For as long as the connection lives. */
export function answerServiceRequests(subscriptions: Subscriptions, parts: ServiceRequestsParts): void {
  for (const verb of verbs)
    for (const subject of [`$SRV.${verb}`, `$SRV.${verb}.>`])
      subscriptions.subscribe(subject, {
        without: 'tools of NATS do not see the services',
        callback: (message) => {
          const [, , name, id] = message.subject.split('.')
          for (const service of parts.services()) {
            if (name !== undefined && name !== service.name) continue
            if (id !== undefined && id !== idOf(service, parts)) continue
            message.respond(JSON.stringify(answerOf(verb, service, parts)))
          }
        },
      })
}

function answerOf(verb: Verb, service: ClusterService, parts: ServiceRequestsParts): object {
  const { host, app } = parts
  const { name, version = '' } = app()
  const metadata = { app: name, host, contract: service.contract, busbar: service.typed ? 'typed' : 'program' }
  const common = {
    type: `io.nats.micro.v1.${verb.toLowerCase()}_response`,
    name: service.name,
    id: idOf(service, parts),
    version: semantic.test(version) ? version : '0.0.0',
    metadata,
  }
  const endpoint = { name: service.name, subject: parts.subjects.dial(host), queue_group: 'workers' }
  switch (verb) {
    case 'PING':
      return common
    case 'INFO':
      return { ...common, description: `service of the app ${name}`, endpoints: [{ ...endpoint, metadata }] }
    case 'STATS': {
      const status = parts.status()
      const started = new Date(status.app.startedAt).toISOString()
      return { ...common, started, endpoints: [{ ...endpoint, ...statsOf(service.name, status) }] }
    }
  }
}

/** Times are nanoseconds. */
function statsOf(name: string, { instances, calls }: AppStatus): object {
  const own = instances.filter(({ service }) => service === name)
  const timed = calls.filter(({ callee }) => callee === name)
  const time = sum(timed.map((one) => one.sum)) * 1e6
  const count = sum(timed.map((one) => one.count))
  return {
    num_requests: sum(own.map((one) => one.calls)),
    num_errors: sum(own.map((one) => one.failures)),
    last_error: '',
    processing_time: Math.round(time),
    average_processing_time: count === 0 ? 0 : Math.round(time / count),
  }
}

function idOf({ name }: ClusterService, { host }: ServiceRequestsParts): string {
  return `${host}-${name}`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
