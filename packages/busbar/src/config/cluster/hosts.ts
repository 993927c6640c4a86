/** Services of other apps, and what this app exports to others. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type {
  AppHosts,
  ClusterConfig,
  ExportConfig,
  HostAddress,
  IdentityFiles,
  RemoteService,
} from '../../shared/hosts.ts'
import type { Address, Service } from '../app.ts'
import { isOwnAddress } from '../gateway/listen-addresses.ts'
import { resolveCluster } from './cluster.ts'
import { readIdentity } from './identity.ts'
import { checkOwnNames } from '../own-names.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'

/** Instead of an address. */
const clusterText = 'cluster'

/** What this app may say about a service of another one. */
const remoteKeys: ReadonlySet<string> = new Set(['remote', 'versions', 'pathTemplates'])

export interface HostsContext {
  readonly root: string
  readonly config: ParsedConfig
  readonly gateway: Address
  /** The services of this app. */
  readonly services: readonly Service[]
}

export async function resolveHosts(context: HostsContext, problems: Problems): Promise<AppHosts> {
  const remotes = resolveRemotes(context, problems)
  const exported = resolveExport(context, problems)
  const cluster = resolveCluster(context, problems)
  checkClusterNames(remotes, cluster, problems)
  const usesTls = exported?.protocol === 'tls' || remotes.some(({ addresses }) => addresses.some(isTls))
  const identity = usesTls ? await resolveIdentity(context, problems) : undefined
  return {
    ...(remotes.length > 0 && { remotes }),
    ...(exported !== undefined && { export: exported }),
    ...(cluster !== undefined && { cluster }),
    ...(identity !== undefined && { identity }),
  }
}

function isTls({ protocol }: HostAddress): boolean {
  return protocol === 'tls'
}

function resolveRemotes({ config, gateway, services }: HostsContext, problems: Problems): RemoteService[] {
  return Object.entries(config.services ?? {}).flatMap(([name, service]): RemoteService[] => {
    const isDouble = services.some((own) => own.name === name)
    if (typeof service === 'string') return []
    if (service.remote === undefined && service.versions !== undefined)
      problems.add('CONFIG_INVALID', {
        service: name,
        message: `services.${name}.versions is for services of other apps, and this one has no remote`,
        hint: 'Leave versions out, or add remote.',
      })
    if (service.remote === undefined || isDouble) return []
    const others = Object.keys(service).filter((key) => !remoteKeys.has(key))
    if (others.length > 0)
      problems.add('CONFIG_INVALID', {
        service: name,
        message: `services.${name} has remote and ${others.join(', ')}: another app runs the service, and decides about it`,
        hint: `Leave ${others.join(', ')} out, or remote.`,
      })
    const texts = [service.remote].flat()
    const inCluster = texts.includes(clusterText)
    const addresses = texts.flatMap((text) => {
      if (text === clusterText) return []
      if (isOwnAddress(text, gateway, services) || isOwnExport(text, config)) {
        problems.add('ROUTE_LOOP', {
          message: `services.${name}.remote is ${text}, an address of this app: calls to ${name} would come back to it`,
          hint: 'Give the address of another app, or the folder of the service.',
        })
        return []
      }
      const address = parseRemote(text)
      if (address !== undefined) return [address]
      problems.add('CONFIG_INVALID', {
        service: name,
        message: `services.${name}.remote is ${JSON.stringify(text)}, which is not the address of an app`,
        hint: "Write 'tls://host:port', 'tcp://host:port' for a connection without TLS, or 'cluster' for all hosts of the cluster.",
      })
      return []
    })
    const { versions, pathTemplates } = service
    if (versions !== undefined) checkVersions(name, versions, problems)
    return [
      {
        name,
        addresses,
        ...(inCluster && { inCluster }),
        ...(versions !== undefined && { versions }),
        ...(pathTemplates !== undefined && { pathTemplates }),
      },
    ]
  })
}

function checkVersions(name: string, versions: Readonly<Record<string, number>>, problems: Problems): void {
  if (Object.values(versions).some((weight) => weight > 0)) return
  problems.add('CONFIG_INVALID', {
    service: name,
    message: `services.${name}.versions has no version with a weight above 0: no host would get a call`,
    hint: "Write for example versions: { '1': 90, '2': 10 }.",
  })
}

function checkClusterNames(remotes: readonly RemoteService[], cluster: ClusterConfig | undefined, problems: Problems) {
  for (const { name, inCluster } of remotes)
    if (inCluster === true && cluster === undefined)
      problems.add('CONFIG_INVALID', {
        service: name,
        message: `services.${name}.remote is 'cluster', and the app has no cluster`,
        hint: "Add cluster: { nats: 'nats://host:4222', name: '…' }, or give the address of an app.",
      })
}

function parseRemote(text: string): HostAddress | undefined {
  const found = /^(tls|tcp):\/\/(?:\[([^\]]+)\]|([^:/@?#\s]+)):(\d{1,5})$/i.exec(text)
  if (found === null) return undefined
  const [, protocol, ip, name, port] = found
  if (Number(port) > 65_535 || Number(port) === 0 || (ip !== undefined && isIP(ip) !== 6)) return undefined
  return { protocol: protocol!.toLowerCase() as 'tls' | 'tcp', host: (ip ?? name)!.toLowerCase(), port: Number(port) }
}

/** `:7001`, `10.0.0.7:7001` or `[::1]:7001`. Undefined if it is none of these. */
function parseListen(text: string, host: string): Address | undefined {
  const found = /^(?:\[([^\]]+)\]|([^:/@?#\s]*)):(\d{1,5})$/.exec(text)
  if (found === null || Number(found[3]) > 65_535) return undefined
  return { host: found[1] ?? (found[2] || host), port: Number(found[3]) }
}

function resolveExport({ config, services }: HostsContext, problems: Problems): ExportConfig | undefined {
  const { export: exported } = config
  if (exported === undefined) return undefined
  const { tls, tcp, services: names, allow } = exported
  if ((tls === undefined) === (tcp === undefined)) {
    problems.add('CONFIG_INVALID', {
      message: `export has ${tls === undefined ? 'neither tls nor tcp' : 'both tls and tcp'}: it needs one address`,
      hint: "Write export: { tls: ':7001', services: [ … ] }.",
    })
    return undefined
  }
  checkOwnNames('export.services', names, { config, services }, problems)
  checkAllow(exported, problems)
  const key = tls === undefined ? 'tcp' : 'tls'
  const address = parseListen((tls ?? tcp)!, tls === undefined ? '127.0.0.1' : '::')
  if (address !== undefined) return { protocol: key, ...address, services: [...new Set(names)], allow }
  problems.add('CONFIG_INVALID', {
    message: `export.${key} is ${JSON.stringify(tls ?? tcp)}, which is not an address to listen on`,
    hint: "Write ':7001' or '10.0.0.7:7001'.",
  })
  return undefined
}

function checkAllow({ tcp, services, allow }: NonNullable<ParsedConfig['export']>, problems: Problems): void {
  if (allow === undefined) return
  const silent = services.find((name) => !Object.hasOwn(allow, name))
  const extra = Object.keys(allow).find((name) => !services.includes(name))
  const but = extra === undefined ? '' : `, and names ${JSON.stringify(extra)}, which export.services does not list`
  if (silent !== undefined)
    problems.add('CONFIG_INVALID', {
      message: `export.allow does not say who may call ${silent}${but}`,
      hint: `Add ${silent}: ['*'] for every app with a certificate, or the names of the apps.`,
    })
  else if (extra !== undefined)
    problems.add('CONFIG_INVALID', {
      message: `export.allow names ${JSON.stringify(extra)}, which export.services does not list`,
      hint: 'List it there, or leave it out.',
    })
  else if (tcp !== undefined)
    problems.add('CONFIG_INVALID', {
      message: 'export.allow needs the name of the caller, which export.tcp cannot prove',
      hint: 'Write tls instead of tcp, or leave allow out.',
    })
}

async function resolveIdentity({ root, config }: HostsContext, problems: Problems): Promise<IdentityFiles> {
  const { cert, key, ca, crl } = config.identity
  const files = {
    cert: resolve(root, cert),
    key: resolve(root, key),
    ca: resolve(root, ca),
    ...(crl !== undefined && { crl: resolve(root, crl) }),
  }
  await problems.collect(async () => void (await readIdentity(files)))
  return files
}

function isOwnExport(text: string, { export: exported }: ParsedConfig): boolean {
  const own = parseListen(exported?.tls ?? exported?.tcp ?? '', '127.0.0.1')
  const remote = parseRemote(text)
  if (own === undefined || remote === undefined || own.port === 0 || own.port !== remote.port) return false
  return remote.host === own.host || (remote.host === 'localhost' && own.host === '127.0.0.1')
}
