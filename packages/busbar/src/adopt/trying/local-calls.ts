/** Calls from one service to another at a port of this machine. */
import { glob, readFile, stat } from 'node:fs/promises'
import { hostname, networkInterfaces } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { ServiceConfig } from '../imported.ts'
import { isLocalhost } from '../../shared/calls/local-ports.ts'
import { programSources } from '../launch/program-sources.ts'

export interface LocalCall {
  /** The service that calls. */
  readonly from: string
  /** The service that is called. */
  readonly to: string
  /** `web/server.js:12`; `services.web.env.CATALOG_URL` of the config. */
  readonly where: string
  /** `http://localhost:3001` */
  readonly address: string
  /** `http://catalog.internal` */
  readonly instead: string
  /** `localhost` in the config leads it through the mesh. */
  readonly atLocalhost: boolean
  /** The variable that decides it, with the value that leads to the service by its name. */
  readonly variable?: { readonly name: string; readonly value: string }
}

export interface CallSources {
  /** The folder of the repository. */
  readonly root: string
  readonly config: AppConfig
  readonly services: readonly CallingService[]
  /** Where each service listens today. */
  readonly ports: Readonly<Record<string, number>>
}

export interface CallingService {
  readonly name: string
  /** Absolute path of its folder. */
  readonly path: string
  /** The module that starts it. Undefined for a command. */
  readonly entry: string | undefined
}

const maxFiles = 200
const maxBytes = 256 * 1024

/** Reads sources, `.env` files and the variables of the config. Starts nothing. */
export async function findLocalCalls(sources: CallSources): Promise<LocalCall[]> {
  const found: LocalCall[] = []
  for (const service of sources.services) {
    found.push(...inConfig(service, sources))
    const others = sources.services.map(({ path }) => path).filter((path) => path !== service.path)
    for (const { file, text } of await textsOf(service, others)) found.push(...inText(service, file, text, sources))
  }
  return found
}

/** The config in which variables lead to services by their names. */
export function withServiceNames(config: AppConfig, calls: readonly LocalCall[]): AppConfig {
  const services = Object.entries(config.services ?? {}).map(([name, service]) => {
    const variables = calls.filter(({ from }) => from === name).flatMap(({ variable }) => variable ?? [])
    if (variables.length === 0) return [name, service] as const
    const own: ServiceConfig = typeof service === 'string' ? { path: service } : service
    const env = { ...own.env, ...Object.fromEntries(variables.map((one) => [one.name, one.value])) }
    return [name, { ...own, env }] as const
  })
  return { ...config, services: Object.fromEntries(services) }
}

/** The config in which calls to the ports of services go through the mesh. */
export function withCapturedPorts(config: AppConfig, ports: Readonly<Record<string, number>>): AppConfig {
  const all = Object.values(ports)
  const services = Object.entries(config.services ?? {}).map(([name, service]) => {
    const port = ports[name]
    if (port === undefined || all.filter((one) => one === port).length > 1) return [name, service] as const
    const own: ServiceConfig = typeof service === 'string' ? { path: service } : service
    return [name, { ...own, localhost: port }] as const
  })
  return { ...config, services: Object.fromEntries(services) }
}

function inConfig({ name }: CallingService, sources: CallSources): LocalCall[] {
  const service = sources.config.services?.[name]
  const env = typeof service === 'object' ? (service.env ?? {}) : {}
  return Object.entries(env).flatMap(([variable, value]) => {
    const found = addressesIn(`${value}`, name, sources)
    const where = `services.${name}.env.${variable}`
    return found.map((call) => ({ ...call, where, ...toVariable(variable, `${value}`, found) }))
  })
}

function inText({ name }: CallingService, file: string, text: string, sources: CallSources): LocalCall[] {
  const isEnv = /(?:^|[\\/])\.env(?:\.\w+)?$/.test(file)
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:\/\/|\*|#)/.test(line)) return []
    const found = addressesIn(line, name, sources)
    return found.map((call) => {
      const [, variable, value] = isEnv
        ? (/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*['"]?([^'"\s]*)/.exec(line) ?? [])
        : (fallback.exec(line) ?? [])
      return {
        ...call,
        where: `${relative(sources.root, file)}:${index + 1}`,
        ...(variable !== undefined && value!.includes(call.address) && toVariable(variable, value!, found)),
      }
    })
  })
}

/** `process.env.CATALOG_URL ?? 'http://localhost:3001'`, also with `||`. */
const fallback = /\benv(?:\.|\[['"])([A-Za-z_]\w*)(?:['"]\])?\s*(?:\?\?|\|\|)\s*['"`]([^'"`]*)['"`]/

/** Browsers get the values of these, or the service's own clients do. */
const notForServices =
  /^(?:NEXT_PUBLIC|VITE|REACT_APP|NUXT_PUBLIC|PUBLIC|EXPO_PUBLIC)_|ORIGIN|CORS|CALLBACK|REDIRECT|PUBLIC_/

/** A value may have the addresses of several services. */
function toVariable(name: string, value: string, found: readonly Address[]): Pick<LocalCall, 'variable'> {
  if (notForServices.test(name)) return {}
  const named = found.reduce((text, { address, instead }) => text.replaceAll(address, instead), value)
  return { variable: { name, value: named } }
}

type Address = Pick<LocalCall, 'from' | 'to' | 'address' | 'instead' | 'atLocalhost'>

const url = /\b(http|ws):\/\/(\[[\da-f:.]+\]|[a-z\d](?:[\w.-]*[a-z\d])?):(\d{2,5})\b/gi

/** Other names of this machine. */
const ownHosts: ReadonlySet<string> = new Set([
  '0.0.0.0',
  hostname().toLowerCase(),
  ...Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  ),
])

function addressesIn(text: string, from: string, { ports }: CallSources): Address[] {
  return [...text.matchAll(url)].flatMap(([address, scheme, host, digits]) => {
    // A container is reached by the name of its service.
    const byPort = Object.keys(ports).filter((name) => ports[name] === Number(digits))
    const atLocalhost = isLocalhost(host!)
    const isHere = atLocalhost || ownHosts.has(host!.toLowerCase())
    const [to, ...others] = isHere ? byPort : byPort.filter((name) => name === host)
    if (to === undefined || to === from || others.length > 0) return []
    return [{ from, to, address, instead: `${scheme}://${to}.internal`, atLocalhost }]
  })
}

interface SourceText {
  readonly file: string
  readonly text: string
}

/**
 * The modules that a program starts with, or all of its folder, and its `.env` files. `others`:
 * folders of other services, which may be inside.
 */
async function textsOf({ path, entry }: CallingService, others: readonly string[]): Promise<SourceText[]> {
  const found: SourceText[] = []
  if (entry !== undefined)
    for await (const source of programSources(entry))
      if (source.text !== undefined) found.push({ file: source.file, text: source.text })
  const pattern = entry === undefined ? '{**/*.{js,mjs,cjs,ts,mts,json},.env,.env.*}' : '{.env,.env.*}'
  const exclude = (name: string): boolean =>
    /(?:^|[\\/])(?:node_modules|dist|\.git|\.next)$/.test(name) || others.includes(join(path, name))
  for await (const name of glob(pattern, { cwd: path, exclude })) {
    if (found.length >= maxFiles) break
    const file = join(path, name)
    const size = (await stat(file).catch(() => undefined))?.size ?? Infinity
    if (size <= maxBytes && dirname(file) !== '/')
      found.push({ file, text: await readFile(file, 'utf8').catch(() => '') })
  }
  return found
}
