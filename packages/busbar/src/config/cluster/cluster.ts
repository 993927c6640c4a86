import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { ClusterConfig } from '../../shared/hosts.ts'
import { checkOwnNames } from '../own-names.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'

/** The client of NATS. Only apps with a cluster need it, so Busbar does not install it. */
const clientPackage = '@nats-io/transport-node'
/** For what the servers keep: only apps of a cluster with a queue or a schedule need them. */
const jetstreamPackage = '@nats-io/jetstream'
const kvPackage = '@nats-io/kv'

const defaultPort = 4222

export interface ClusterContext {
  readonly root: string
  readonly config: ParsedConfig
  /** The services of this app. */
  readonly services: readonly { readonly name: string }[]
}

interface Server {
  readonly address: string
  readonly isTls: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

export function resolveCluster(
  { root, config, services }: ClusterContext,
  problems: Problems,
): ClusterConfig | undefined {
  const { cluster } = config
  if (cluster === undefined) return undefined
  const { name, nats, credentials, tls, services: offered } = cluster
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    problems.add('CONFIG_INVALID', {
      message: `cluster.name is ${JSON.stringify(name)}, which is not a name of a cluster`,
      hint: "Use at most 64 letters, digits, '-' and '_'.",
    })
  const servers = [nats].flat().flatMap((text) => parseServer(text, problems))
  checkOwnNames('cluster.services', offered ?? [], { config, services }, problems)
  const keeps = config.queues !== undefined || Object.keys(config.schedule ?? {}).length > 0
  const packages = keeps ? [clientPackage, jetstreamPackage, kvPackage] : [clientPackage]
  const [client = '', jetstream, kv] = packages.map((one) => findPackage(root, one))
  const missing = packages.filter((one) => findPackage(root, one) === undefined)
  if (missing.length > 0)
    problems.add('CONFIG_INVALID', {
      message: `the app has a cluster${keeps ? ' with a queue or a schedule' : ''}, and ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed: neither in ${root} nor beside Busbar`,
      hint: `Run npm install ${missing.join(' ')}.`,
    })
  const file = (path: string | undefined): string | undefined => path && resolve(root, path)
  const paths = tls && { ca: file(tls.ca), cert: file(tls.cert), key: file(tls.key) }
  checkFiles({ credentials: file(credentials), ...prefixed(paths) }, problems)
  if ((tls?.cert === undefined) !== (tls?.key === undefined))
    problems.add('CONFIG_INVALID', {
      message: `cluster.tls has a ${tls?.cert === undefined ? 'key without a cert' : 'cert without a key'}`,
      hint: 'Give both, or leave both out if the servers ask for no certificate.',
    })
  const usesTls = tls !== undefined || servers.some(({ isTls }) => isTls)
  const login = servers.find(({ user }) => user !== undefined)
  return {
    name,
    servers: servers.map(({ address }) => address),
    credentials: file(credentials),
    user: login?.user,
    password: login?.password,
    tls: usesTls ? defined(paths ?? {}) : undefined,
    services: [...new Set(offered ?? services.map((service) => service.name))],
    client,
    jetstream,
    kv,
    replicas: cluster.replicas,
  }
}

/** They are read again for each connection, so they are only looked at here. */
function checkFiles(files: Readonly<Record<string, string | undefined>>, problems: Problems): void {
  for (const [key, path] of Object.entries(files)) {
    if (path === undefined) continue
    try {
      readFileSync(path)
    } catch (error) {
      problems.add(key === 'credentials' ? 'CONFIG_INVALID' : 'TLS_FILE_UNREADABLE', {
        message: `cluster.${key}: ${path} cannot be read: ${(error as Error).message}`,
        hint: 'Paths are relative to the folder of the config.',
      })
    }
  }
}

function prefixed(files: Readonly<Record<string, string | undefined>> = {}): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(files).map(([key, path]) => [`tls.${key}`, path]))
}

function parseServer(text: string, problems: Problems): Server[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isServer = url !== undefined && ['nats:', 'tls:'].includes(url.protocol) && url.hostname !== ''
  if (isServer && ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '') {
    const user = decodeURIComponent(url.username) || undefined
    const password = decodeURIComponent(url.password) || undefined
    const address = `${url.hostname}:${url.port === '' ? defaultPort : url.port}`
    return [{ address, isTls: url.protocol === 'tls:', user, password }]
  }
  problems.add('CONFIG_INVALID', {
    // It may contain a password.
    message: 'cluster.nats has an entry that is not the address of a NATS server',
    hint: "Write 'nats://host:4222', or 'tls://host:4222' to require TLS.",
  })
  return []
}

/** The app's own copy comes first: Busbar may be installed for all apps of a machine. */
function findPackage(root: string, name: string): string | undefined {
  for (const from of [join(root, 'busbar.config.ts'), import.meta.filename]) {
    try {
      return createRequire(from).resolve(name)
    } catch {
      // The next place.
    }
  }
  return undefined
}

function defined<T extends object>(value: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never
}
