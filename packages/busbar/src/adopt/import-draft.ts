import { toServiceName } from '../config/services/service-name.ts'
import type { AppConfig } from '../config/schema/app-schema.ts'
import type { Imported, LeftOut, MappedKey, ServiceConfig, SourceKind, UnmappedKey, ServiceDraft } from './imported.ts'
import type { KeyOutcome } from './key-rules.ts'
import { openPorts } from './open-ports.ts'

/** Milliseconds: the default of the app's `stopTimeout`. */
const usualStopTimeout = 8_000

/** A config that is being assembled from another tool's file. */
export class ImportDraft {
  readonly kind: SourceKind
  readonly source: string
  readonly root: string
  /** All but the services. */
  readonly config: Omit<AppConfig, 'services' | 'environments'> = {}
  readonly services: ServiceDraft[] = []
  readonly #mapped: MappedKey[] = []
  readonly #unmapped: UnmappedKey[] = []
  readonly #leftOut: LeftOut[] = []

  constructor(kind: SourceKind, source: string, root: string) {
    this.kind = kind
    this.source = source
    this.root = root
  }

  /** Its name is valid and differs from the others. */
  addService(wanted: string): ServiceDraft {
    const base = toServiceName(wanted)
    const isTaken = (name: string): boolean => this.services.some((one) => one.name === name)
    let name = base
    for (let n = 2; isTaken(name); n++) name = `${base.slice(0, 59)}-${n}`
    const draft: ServiceDraft = { name, config: {}, port: undefined, host: undefined, environments: {} }
    this.services.push(draft)
    return draft
  }

  /** Takes a service back that Busbar cannot run. */
  leaveOut(service: ServiceDraft | undefined, name: string, why: string): void {
    if (service !== undefined) this.services.splice(this.services.indexOf(service), 1)
    this.#leftOut.push({ name, why })
  }

  report(from: string, outcome: KeyOutcome): void {
    if ('why' in outcome) this.#unmapped.push({ from, why: outcome.why })
    else this.#mapped.push({ from, ...outcome })
  }

  finish(): Imported {
    const { kind, source, root } = this
    openPorts(this)
    this.#raiseStopTimeout()
    const known = new Set(this.services.map(({ name }) => name))
    const services = this.services.map(({ name, config, environments }) => {
      const rest = shortened(config, known)
      // A text is short for its path, and an environment is merged over an object.
      const isPath = Object.keys(rest).join() === 'path' && Object.keys(environments).length === 0
      return [name, isPath ? rest.path! : rest] as const
    })
    const environments = this.#environments()
    return {
      kind,
      source,
      root,
      config: {
        ...this.config,
        ...(environments !== undefined && { environments }),
        services: Object.fromEntries(services),
      },
      mapped: this.#mapped,
      unmapped: this.#unmapped,
      leftOut: this.#leftOut,
    }
  }

  /** The stop of a service is part of that of the app. */
  #raiseStopTimeout(): void {
    const { config, services } = this
    const times = [config.defaults?.stopTimeout, ...services.map((service) => service.config.stopTimeout)]
    const longest = Math.max(...times.map((time) => Number(time ?? 0)))
    if (longest > Number(config.stopTimeout ?? usualStopTimeout)) config.stopTimeout = longest
  }

  #environments(): AppConfig['environments'] {
    const names = new Set(this.services.flatMap(({ environments }) => Object.keys(environments)))
    if (names.size === 0) return undefined
    const of = (name: string): [string, ServiceConfig][] =>
      this.services.flatMap((service): [string, ServiceConfig][] => {
        const own = service.environments[name]
        return own === undefined ? [] : [[service.name, own]]
      })
    return Object.fromEntries([...names].map((name) => [name, { services: Object.fromEntries(of(name)) }]))
  }
}

/** Without needs of services that were left out, and without empty values. */
function shortened(config: ServiceConfig, known: ReadonlySet<string>): ServiceConfig {
  const needs = config.needs?.filter((name) => known.has(name))
  const entries = Object.entries({ ...config, needs }).filter(([, value]) => !isEmpty(value))
  return Object.fromEntries(entries) as ServiceConfig
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
