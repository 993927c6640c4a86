import type { Service } from '../../config/app.ts'
import { searchPath } from '../../config/services/command.ts'
import { type CallAccess, callsVariable, callVariables, urlVariables } from '../../shared/call-access.ts'
import { inFolder } from '../../shared/in-folder.ts'
import { bypassProxies } from '../../shared/proxy-bypass.ts'

export interface CommandEnvironment {
  readonly service: Service
  /** All services of the app. */
  readonly names: readonly string[]
  readonly calls: CallAccess
  /** That it is to listen on. */
  readonly port: number
}

/** Busbar's own environment, how the services are called, and over both the command's own `env`. */
export function commandEnvironment({ service, names, calls, port }: CommandEnvironment): NodeJS.ProcessEnv {
  const { name, path, env: own } = service
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...inFolder(path, process.env),
    ...urlVariables(calls, name),
    ...own,
  }
  if (own[callsVariable] === undefined) Object.assign(env, callVariables(calls, name, names, env['NODE_OPTIONS']))
  bypassProxies(env, names, ['127.0.0.1'])
  return { ...env, PORT: `${port}`, PATH: searchPath(path, env['PATH']) }
}
