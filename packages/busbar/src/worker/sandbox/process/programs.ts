import type { App, Service } from '../../../config/app.ts'
import {
  type CallAccess,
  type CallerAccess,
  callsVariable,
  callVariables,
  noCallAccess,
} from '../../../shared/calls/call-access.ts'
import { localPortsOf } from '../../../shared/calls/local-ports.ts'
import { bypassProxies, pwdVariable } from '../../../shared/process/program-environment.ts'
import { currentScope } from '../../../mesh/scope.ts'
import { callableNames } from '../../../shared/hosts.ts'
import { ProgramProcess } from './program-process.ts'

/** The programs of this thread by service. Patches look up here which program is running. */
export class Programs {
  readonly #byName: ReadonlyMap<string, ProgramProcess>
  readonly #only: ProgramProcess | undefined

  /** `services`: hosted in this thread. `calls`: for threads and processes that they start. */
  constructor(app: App, services: readonly Service[], base: NodeJS.ProcessEnv, calls: CallAccess = noCallAccess) {
    const callable = { names: callableNames(app), localPorts: localPortsOf(app.services) }
    const programs = services.map((service) => new ProgramProcess(service, environment(base, service, callable, calls)))
    this.#byName = new Map(programs.map((program) => [program.service.name, program]))
    this.#only = programs.length === 1 ? programs[0] : undefined
  }

  [Symbol.iterator](): Iterator<ProgramProcess> {
    return this.#byName.values()
  }

  of(service: string): ProgramProcess | undefined {
    return this.#byName.get(service)
  }

  /** The program whose code is running; undefined in Busbar's own code. */
  get current(): ProgramProcess | undefined {
    const scope = currentScope()
    return scope === undefined ? undefined : this.#byName.get(scope.service)
  }

  /**
   * As `current`, but a thread's only program also without a scope: for what only programs do, such
   * as printing.
   */
  get currentOrOnly(): ProgramProcess | undefined {
    return this.#only ?? this.current
  }
}

function environment(
  base: NodeJS.ProcessEnv,
  { name, path, env: own }: Service,
  callable: Pick<CallerAccess, 'names' | 'localPorts'>,
  calls: CallAccess,
): Record<string, string> {
  const env = { ...base, ...pwdVariable(path, base), ...own } as Record<string, string>
  if (own[callsVariable] === undefined) Object.assign(env, callVariables(calls, name, callable, env['NODE_OPTIONS']))
  bypassProxies(env, callable.names)
  return env
}
