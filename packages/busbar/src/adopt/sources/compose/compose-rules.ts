/** What becomes of the keys of a service in a Compose file (schema of the compose-spec). */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { toServiceName } from '../../../config/services/service-name.ts'
import { portOfEnv } from '../../launch/apply-launch.ts'
import type { ServiceDraft } from '../../imported.ts'
import { type KeyRules, type KeyOutcome } from '../../key-rules.ts'
import { type ComposeNames, containerHostsNote } from './container-hosts.ts'
import { composeDuration, composeSize, composeVariables, publishedPorts } from './compose-text.ts'

export interface ComposeService {
  readonly service: ServiceDraft
  readonly names: ComposeNames
  /** The folder of the file. */
  readonly root: string
}

const container = 'it is about the container, and services are processes and threads of one machine here'
const network = 'services call each other by http://<name>.internal, without a network of their own'
const limits = 'set it for all of Busbar: by its container or its unit of systemd'
const files = 'a service sees the files of this machine'

export const composeRules: KeyRules<ComposeService> = {
  build: ({ service }) => at(service, 'path'),
  image: ({ service }) => at(service, 'path'),
  command: start,
  entrypoint: start,
  working_dir: ({ service }) => at(service, 'path'),
  environment: ({ service, names }, value) => environment(service, names, value),
  env_file: ({ service, root }, value) => envFile(service, root, value),
  ports: ({ service }, value) => ports(service, value),
  expose: () => ({ to: 'the default: services reach each other by name' }),
  depends_on: ({ service, names: { hosted } }, value) => {
    const needed = Array.isArray(value) ? value.map(String) : Object.keys(isPlainObject(value) ? value : {})
    service.config.needs = needed.filter((name) => hosted.has(name)).map(toServiceName)
    const others = needed.filter((name) => !hosted.has(name))
    return at(
      service,
      'needs',
      others.length === 0 ? undefined : `without ${others.join(', ')}, which Busbar does not start`,
    )
  },
  scale: ({ service }, value) => instances(service, value),
  deploy: ({ service }, value) => deploy(service, value),
  mem_limit: ({ service }, value) => memory(service, value),
  healthcheck: ({ service }, value) => healthcheck(service, value),
  stop_grace_period: ({ service }, value) => {
    const time = composeDuration(value)
    if (time === undefined) return { why: 'it is not a duration' }
    service.config.stopTimeout = time
    return at(service, 'stopTimeout')
  },
  restart: (_, value) => (value === 'no' ? { why: 'Busbar restarts every service that ends' } : { to: 'the default' }),
  init: () => ({ to: 'the default: Busbar waits for processes that lost their parent' }),
  develop: 'busbar dev watches the files of all services',
  profiles: 'the config has environments instead',
  stop_signal: 'Busbar stops services by SIGTERM, in threads by their handlers of it',
  secrets: 'write the value as ${file:/run/secrets/name} into env',
  logging: 'the log of all services is on standard output; logs.files writes files',
  extends: 'write the keys of the other service into this one',
  pre_stop: 'handle SIGTERM in the program',
  post_start: 'let the program do it before it listens',
  provider: 'Busbar does not start it',
  ...reasons(files, 'volumes volumes_from tmpfs configs storage_opt read_only'),
  ...reasons(
    network,
    'networks network_mode links external_links hostname domainname dns dns_opt dns_search extra_hosts mac_address',
  ),
  ...reasons(
    limits,
    'cpus cpu_count cpu_percent cpu_shares cpu_quota cpu_period cpu_rt_period cpu_rt_runtime cpuset mem_reservation mem_swappiness memswap_limit pids_limit ulimits blkio_config oom_kill_disable oom_score_adj shm_size gpus devices device_cgroup_rules cgroup cgroup_parent sysctls',
  ),
  ...reasons('all services run as the user who starts Busbar', 'user group_add uid userns_mode'),
  ...reasons(
    container,
    'container_name annotations attach cap_add cap_drop credential_spec ipc isolation label_file labels models pid platform privileged pull_policy pull_refresh_after runtime security_opt stdin_open tty use_api_socket uts',
  ),
}

function start({ service }: ComposeService): KeyOutcome {
  return at(service, service.config.command === undefined ? 'entry' : 'command')
}

/** Addresses of services of the file become those of the mesh. */
function environment(service: ServiceDraft, names: ComposeNames, value: unknown): KeyOutcome {
  const changed: string[] = []
  const entries = Object.entries(composeVariables(value)).map(([name, text]) => {
    const address = text.replaceAll(/\bhttp:\/\/([\w-]+)(?::\d+)?(?=[/?#]|$)/g, (found, host: string) =>
      names.hosted.has(host) ? `http://${toServiceName(host)}.internal` : found,
    )
    if (address !== text) changed.push(name)
    return [name, address] as const
  })
  const own = Object.fromEntries(entries)
  service.config.env = { ...service.config.env, ...own }
  service.port ??= portOfEnv(service.config.env)
  const notes = [
    changed.length === 0 ? undefined : `${changed.join(', ')}: services are http://<name>.internal`,
    containerHostsNote(own, names),
  ].filter((note) => note !== undefined)
  return at(service, 'env', notes.length === 0 ? undefined : notes.join('; '))
}

function envFile(service: ServiceDraft, root: string, value: unknown): KeyOutcome {
  const all = (Array.isArray(value) ? value : [value]).map((one: unknown) => {
    const { path, required } = isPlainObject(one) ? one : { path: one }
    return { path: String(path), isOptional: required === false }
  })
  // Busbar needs the file that its config names.
  const needed = all.filter(({ path, isOptional }) => !isOptional || existsSync(resolve(root, path)))
  const [first, ...others] = needed.map(({ path }) => path)
  if (first === undefined) return { why: 'the file is optional, and it is not there' }
  service.config.envFile = first
  return at(
    service,
    'envFile',
    others.length === 0 ? undefined : `without ${others.join(', ')}: a service has one such file`,
  )
}

function ports(service: ServiceDraft, value: unknown): KeyOutcome {
  const [first, ...others] = publishedPorts(value)
  if (first === undefined) return { why: 'it publishes no TCP port of the host' }
  service.port = first.port
  if (first.host !== undefined) service.host = first.host.replaceAll(/[[\]]/g, '')
  const left = others.length === 0 ? '' : `, without ${others.map(({ port }) => port).join(', ')}`
  const where =
    first.host === undefined ? "at 127.0.0.1: write a host of '0.0.0.0' to open it to others" : `at ${service.host}`
  return { to: `port ${first.port} of services.${service.name}`, note: `${where}${left}` }
}

function instances(service: ServiceDraft, value: unknown): KeyOutcome {
  const count = Number(value)
  if (!Number.isInteger(count) || count < 1) return { why: 'it is not a number of instances' }
  if (count > 1) service.config.instances = count
  return count > 1 ? at(service, 'instances') : { to: 'the default' }
}

/** An empty process of Node needs as much. */
const minMemory = 96 * 1024 ** 2

function memory(service: ServiceDraft, value: unknown): KeyOutcome {
  const size = composeSize(value)
  if (size === undefined) return { why: 'it is not a size' }
  if (service.config.command !== undefined) return { why: 'a command has no memory limit' }
  service.config.memory = Math.max(size, minMemory)
  return at(service, 'memory', size < minMemory ? '96 MB is the least for a process' : undefined)
}

function deploy(service: ServiceDraft, value: unknown): KeyOutcome {
  if (!isPlainObject(value)) return { why: 'it is not an object' }
  const resources = isPlainObject(value['resources']) ? value['resources'] : {}
  const most = isPlainObject(resources['limits']) ? resources['limits'] : {}
  const done = [
    ...(value['replicas'] === undefined ? [] : [instances(service, value['replicas'])]),
    ...(most['memory'] === undefined ? [] : [memory(service, most['memory'])]),
  ].flatMap((outcome) => ('to' in outcome ? [outcome.to] : []))
  if (done.length === 0) return { why: 'Busbar has counterparts for replicas and the memory limit only' }
  return { to: done.join(', '), note: 'its other keys have no counterpart' }
}

/** A check that requests a path of the service itself. */
function healthcheck(service: ServiceDraft, value: unknown): KeyOutcome {
  const { test, interval, timeout, retries, disable } = isPlainObject(value) ? value : {}
  const text = Array.isArray(test) ? test.join(' ') : String(test)
  if (disable === true || text === 'NONE') return { to: 'the default: no check' }
  const url = /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::[\d$A-Z{}]+)?((?:\/[\w.~-]+)*)/.exec(text)
  if (url === null) return { why: 'Busbar checks health by requesting a path (`health`), not by a command' }
  const [each, most] = [composeDuration(interval), composeDuration(timeout)]
  service.config.health = {
    path: url[1] || '/',
    ...(each !== undefined && { interval: each }),
    ...(most !== undefined && { timeout: most }),
    ...(retries !== undefined && { unhealthyAfter: Number(retries) }),
  }
  return at(service, 'health', 'an instance that stays unhealthy is replaced')
}

function at({ name }: ServiceDraft, key: string, note?: string): KeyOutcome {
  return { to: `services.${name}.${key}`, ...(note !== undefined && { note }) }
}

function reasons(why: string, keys: string): KeyRules<ComposeService> {
  return Object.fromEntries(keys.split(' ').map((key) => [key, why]))
}
