/** What becomes of the keys of an app of PM2 (pm2.keymetrics.io, "Ecosystem file reference"). */
import { whyNotCron } from '../../../shared/time/cron-times.ts'
import { portOfEnv } from '../../launch/apply-launch.ts'
import type { ServiceDraft } from '../../imported.ts'
import { type KeyRules, type KeyOutcome, literal, textsOf, variablesOf } from '../../key-rules.ts'

export interface Pm2App {
  readonly service: ServiceDraft
  readonly app: Readonly<Record<string, unknown>>
}

const log = 'Busbar has one log for all services, on standard output: set logs.files to a folder for files'
const restarts =
  'Busbar restarts at once, then with growing delays up to 30 s, and never gives up on a service by itself'
const watching = 'busbar dev watches the files of all services'
const cloud = 'it belongs to the dashboard of PM2'
const user = 'all services run as the user who starts Busbar'
const hasNone = 'Busbar has nothing for it'

/** In the order in which they apply. */
export const pm2Rules: KeyRules<Pm2App> = {
  ...aliases(['script', 'exec', 'cmd'], ({ service }) =>
    at(service, service.config.command === undefined ? 'entry' : 'command'),
  ),
  name: ({ service }, value) => ({
    to: `services.${service.name}`,
    ...(service.name !== value && { note: 'names are DNS labels' }),
  }),
  cwd: ({ service }) => at(service, 'path'),
  args: ({ service }) => at(service, service.config.command === undefined ? 'args' : 'command'),
  ...aliases(['exec_interpreter', 'interpreter'], interpreter),
  ...aliases(['node_args', 'nodeArgs', 'interpreterArgs', 'interpreter_args'], nodeArguments),
  env: environment,
  port: ({ service }, value) => {
    const variables = { PORT: String(value) }
    service.config.env = { ...service.config.env, ...variables }
    service.port = portOfEnv(variables) ?? service.port
    return at(service, 'env.PORT')
  },
  exec_mode: ({ service }) => at(service, 'run', 'cluster and fork are processes alike; try thread or shared next'),
  instances,
  max_memory_restart: maxMemory,
  kill_timeout: ({ service }, value) => {
    service.config.stopTimeout = Number(value)
    return at(service, 'stopTimeout')
  },
  wait_ready: ({ service }, value) => {
    if (value !== true) return { to: 'the default: ready when it listens' }
    if (service.config.command !== undefined)
      return { why: 'a command cannot signal; set health to a path that answers when it is ready' }
    service.config.ready = 'signal'
    return at(service, 'ready')
  },
  listen_timeout: ({ service }, value) => {
    if (Number(value) <= 30_000)
      return {
        to: 'the default: startTimeout is 30 s',
        note: 'PM2 takes the app for started after this time, Busbar for failed',
      }
    service.config.startTimeout = Number(value)
    return at(service, 'startTimeout')
  },
  ...aliases(['cron_restart', 'cron'], cronRestart),
  source_map_support: sourceMaps,
  disable_source_map_support: (context, value) =>
    value === true ? { to: 'the default: source maps are off' } : sourceMaps(context, true),
  autorestart: (_, value) =>
    value === false
      ? {
          why: 'Busbar restarts every service that ends; run a script that ends by itself from `schedule` or with plain node',
        }
      : { to: 'the default' },
  time: 'each line of the log has a time anyway',
  namespace: 'the services of one config are one app; write another config for another group',
  ...reasons(
    log,
    'out_file output out out_log error_file error err err_file err_log log_file log disable_logs log_type log_date_format merge_logs combine_logs',
  ),
  ...reasons(restarts, 'restart_delay exp_backoff_restart_delay max_restarts min_uptime stop_exit_codes'),
  ...reasons(watching, 'watch ignore_watch watch_delay watch_options'),
  ...reasons(
    cloud,
    'pmx automation trace disable_trace v8 event_loop_inspector deep_monitoring io vizion post_update install_url',
  ),
  ...reasons(user, 'username uid user gid'),
  ...reasons(
    'an instance has no number in its environment; use shared counters, or services of their own',
    'instance_var increment_var',
  ),
  ...reasons('Busbar ends a command with all of its process group', 'treekill kill_retry_time'),
  ...reasons(
    'Busbar has no process list that it could affect',
    'autostart force append_env_to_name name_prefix write execute_command pid_file pid',
  ),
  ...reasons(hasNone, 'filter_env shutdown_with_message windowsHide'),
}

/** `env_production` and the like. */
export function otherKey(context: Pm2App, value: unknown, key: string): KeyOutcome {
  const [, environment] = /^env_(\S+)$/.exec(key) ?? []
  if (environment === undefined) return { why: 'PM2 has no such key' }
  const { service } = context
  service.environments[environment] = { env: variablesOf(value) }
  return { to: `environments.${environment}.services.${service.name}.env`, note: `start it with --env ${environment}` }
}

function environment({ service }: Pm2App, value: unknown): KeyOutcome {
  if (typeof value === 'string') return { why: 'a text is no object of variables' }
  service.config.env = { ...service.config.env, ...variablesOf(value) }
  service.port = portOfEnv(value) ?? service.port
  const without = Object.keys(value ?? {}).filter((name) => (value as Record<string, unknown>)[name] === null)
  return at(service, 'env', without.length === 0 ? undefined : `without ${without.join(', ')}: null is no text`)
}

function nodeArguments({ service }: Pm2App, value: unknown): KeyOutcome {
  const flags = textsOf(value)
  if (flags.length === 0) return { to: 'the default' }
  if (service.config.command !== undefined) return at(service, 'command')
  service.config.nodeOptions = [...textsOf(service.config.nodeOptions), ...flags.map(literal)]
  return at(service, 'nodeOptions')
}

function interpreter({ service }: Pm2App, value: unknown): KeyOutcome {
  if (/node@/.test(String(value))) return { why: 'all services run on the Node that runs Busbar' }
  return at(service, service.config.command === undefined ? 'entry' : 'command')
}

/** PM2: 0 and `max` are one for each processor, -1 is one less. */
function instances({ service }: Pm2App, value: unknown): KeyOutcome {
  const count = value === 'max' ? 0 : Number(value)
  if (!Number.isInteger(count) || count > 1_024) return { why: 'it is not a number of instances' }
  if (count === 1) return { to: 'the default' }
  if (count < -1) return { why: 'Busbar knows one less than the processors (cpus-1), and no other difference' }
  service.config.instances = count === 0 ? 'auto' : count === -1 ? 'cpus-1' : count
  return at(service, 'instances')
}

/** Below this, an empty process of Node would be replaced again and again. */
const minMemory = 96 * 1024 ** 2
const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

function maxMemory({ service }: Pm2App, value: unknown): KeyOutcome {
  const [, amount, unit = ''] = /^(\d+)([KMG]?)B?$/i.exec(String(value).trim()) ?? []
  if (amount === undefined) return { why: 'it is not a size' }
  if (service.config.command !== undefined)
    return { why: 'a command has no memory limit: use the one of its container or unit' }
  const bytes = Number(amount) * units[unit.toLowerCase()]!
  if (bytes < minMemory) {
    service.config.memory = '96mb'
    return at(service, 'memory', '96 MB is the least for a process')
  }
  service.config.memory = unit === '' ? bytes : (`${Number(amount)}${unit.toLowerCase()}b` as '1mb')
  return at(service, 'memory')
}

function cronRestart({ service }: Pm2App, value: unknown): KeyOutcome {
  if (value === 0 || value === '0') return { to: 'the default' }
  const why = whyNotCron(String(value), undefined)
  if (why !== undefined) return { why: `Busbar does not accept the expression: ${why}` }
  service.config.cronRestart = String(value)
  return at(service, 'cronRestart')
}

function sourceMaps({ service }: Pm2App, value: unknown): KeyOutcome {
  if (value !== true) return { to: 'the default: source maps are off' }
  return nodeArguments({ service, app: {} }, ['--enable-source-maps'])
}

function at({ name }: ServiceDraft, key: string, note?: string): KeyOutcome {
  return { to: `services.${name}.${key}`, ...(note !== undefined && { note }) }
}

type Rule = KeyRules<Pm2App>[string]

function aliases(keys: readonly string[], rule: Rule): KeyRules<Pm2App> {
  return Object.fromEntries(keys.map((key) => [key, rule]))
}

function reasons(why: string, keys: string): KeyRules<Pm2App> {
  return aliases(keys.split(' '), why)
}
