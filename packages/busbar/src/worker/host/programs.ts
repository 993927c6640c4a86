import type { App, Service } from '../../config/app.ts'
import { type CallAccess, callsVariable, callVariables, noCalls } from '../../shared/call-access.ts'
import { bypassProxies } from '../../shared/proxy-bypass.ts'
import { inFolder } from '../../shared/in-folder.ts'
import { currentScope } from '../../mesh/scope.ts'
import { ProgramProcess } from './program-process.ts'

/** The programs of this thread, by service: every patch asks here whose code is running. */
export class Programs {
  readonly #byName: ReadonlyMap<string, ProgramProcess>
  readonly #only: ProgramProcess | undefined

  /** `services`: those of the app that this thread hosts. `calls`: for the threads and processes that they start. */
  constructor(app: App, services: readonly Service[], base: NodeJS.ProcessEnv, calls: CallAccess = noCalls) {
    const names = app.services.map(({ name }) => name)
    const programs = services.map((service) => new ProgramProcess(service, environment(base, service, names, calls)))
    this.#byName = new Map(programs.map((program) => [program.service.name, program]))
    this.#only = programs.length === 1 ? programs[0] : undefined
  }

  [Symbol.iterator](): Iterator<ProgramProcess> {
    return this.#byName.values()
  }

  of(service: string): ProgramProcess | undefined {
    return this.#byName.get(service)
  }

  /** The program whose code is running; undefined in Busbar's own. */
  get current(): ProgramProcess | undefined {
    const scope = currentScope()
    return scope === undefined ? undefined : this.#byName.get(scope.service)
  }

  /** For what only a program does, such as printing: without a scope it is the only program there is. */
  get suspect(): ProgramProcess | undefined {
    return this.#only ?? this.current
  }
}

function environment(
  base: NodeJS.ProcessEnv,
  { name, path, env: own }: Service,
  names: readonly string[],
  calls: CallAccess,
): Record<string, string> {
  const env = { ...base, ...inFolder(path, base), ...own } as Record<string, string>
  if (own[callsVariable] === undefined) Object.assign(env, callVariables(calls, name, names, env['NODE_OPTIONS']))
  bypassProxies(env, names)
  return env
}
