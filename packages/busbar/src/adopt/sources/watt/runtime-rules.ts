/** What becomes of the keys of `watt.json` itself (schema of wattpm 3). */
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { toServiceName } from '../../../config/services/service-name.ts'
import { whyNotCron } from '../../../shared/time/cron-times.ts'
import type { ImportDraft } from '../../import-draft.ts'
import { type KeyRules, type KeyOutcome } from '../../key-rules.ts'
import { wattText, wattVariables } from './watt-text.ts'

const applications = 'its applications are listed below'
const restarts = 'Busbar restarts at once, then with growing delays up to 30 s'
const metrics = 'metrics are on the admin socket; `admin` opens a port for them, with a token'
const clients = 'Busbar leaves the HTTP clients of programs as they are'

export const runtimeRules: KeyRules<ImportDraft> = {
  $schema: () => ({ to: 'the types of defineApp' }),
  module: () => ({ to: 'how it starts' }),
  server: 'its keys are listed below',
  // The applications are known before the other keys are read.
  entrypoint: (draft, value) => {
    const entry = toServiceName(String(value))
    if (!draft.services.some(({ name }) => name === entry))
      return {
        why: 'the application is left out, or is a gateway of Platformatic, whose routes became those of Busbar',
      }
    draft.config.gateway = { ...draft.config.gateway, entry }
    return { to: 'gateway.entry' }
  },
  autoload: applications,
  applications,
  services: applications,
  web: applications,
  startTimeout: (draft, value) => withDefault(draft, 'startTimeout', value),
  gracefulShutdown: (draft, value) => {
    const { runtime, application } = isPlainObject(value) ? value : {}
    if (Number(runtime) > 0) draft.config.stopTimeout = Number(runtime)
    if (Number(application) > 0) withDefault(draft, 'stopTimeout', application)
    return { to: 'stopTimeout and defaults.stopTimeout' }
  },
  env: (draft, value) => withDefault(draft, 'env', wattVariables(value)),
  envfile: (draft, value) => withDefault(draft, 'envFile', value),
  scheduler: (draft, value) => schedule(draft, value),
  healthProbes: (draft, value) => {
    if (value === false) return { to: 'the default' }
    draft.config.gateway = { ...draft.config.gateway, probes: true }
    return { to: 'gateway.probes', note: 'the paths are /readyz and /healthz, at the port of the gateway' }
  },
  workers: 'it is the number of each application that has none of its own, see below',
  startupConcurrency: (draft, value) => {
    draft.config.startConcurrency = Number(value)
    return { to: 'startConcurrency' }
  },
  restartOnError: restarts,
  workersRestartDelay: restarts,
  basePath: 'write the prefix into gateway.routes',
  logger: 'the log is JSON on standard output; --log-level sets its level, logs its files',
  metrics,
  managementApi: 'the admin socket is always there, and busbar ps, logs and inject use it',
  management: 'programs cannot reach the supervisor; use the admin socket',
  telemetry: 'Busbar writes no traces; a program may load its own instrumentation (--import in scripts.start)',
  watch: 'busbar dev watches the files of all services',
  verticalScaler: 'give instances as { min, max } to the services that are to follow the load',
  health: 'Busbar replaces a thread that does not answer, and checks health by a path (`health` of a service)',
  exitOnUnhandledErrors: 'an unhandled error ends the worker of the service, which is replaced',
  undici: clients,
  httpCache: clients,
  policies: 'every service may call every other',
  preload: 'add --import to scripts.start of the services that need it',
  extensions: 'Busbar has no extensions of its supervisor',
  reuseTcpPorts: 'the app has `accept` for this',
  sourceMaps: 'add --enable-source-maps to scripts.start of the services',
  nodeModulesSourceMaps: 'Node has one switch for all source maps',
  inspectorOptions: 'busbar dev --inspect opens inspectors',
  compileCache: 'Busbar sets no compile cache; NODE_COMPILE_CACHE in the environment does',
  applicationTimeout: 'limits.responseTimeout is the time to the response at the gateway: 60 s',
  messagingTimeout: 'threads exchange no messages by name here; they call each other',
  resolvedApplicationsBasePath: 'Busbar clones no repositories',
  strictEnv: 'a placeholder without a value is an error unless it has a default',
}

export const serverRules: KeyRules<ImportDraft> = {
  hostname: (draft, value) => gateway(draft, 'host', wattText(String(value))),
  port: (draft, value) => {
    if (/^\{{1,2}PORT\}{1,2}$/.test(String(value))) return { to: 'the default: gateway.port is the variable PORT' }
    return gateway(draft, 'port', typeof value === 'number' ? value : wattText(String(value)))
  },
  https: (draft, value) => {
    const { key, cert } = isPlainObject(value) ? value : {}
    const [keyFile, certFile] = [pathOf(key), pathOf(cert)]
    if (keyFile === undefined || certFile === undefined)
      return { why: 'Busbar reads the key and the certificate from files' }
    return gateway(draft, 'tls', { key: keyFile, cert: certFile })
  },
  http2: 'with gateway.tls and entrance: native, clients may use HTTP/2',
  portAssignment: 'every service has an address of its own by name',
  backlog: 'the system decides',
}

function gateway(draft: ImportDraft, key: 'host' | 'port' | 'tls', value: unknown): KeyOutcome {
  if (value !== '${HOSTNAME:-}') draft.config.gateway = { ...draft.config.gateway, [key]: value }
  return { to: `gateway.${key}` }
}

function pathOf(value: unknown): string | undefined {
  const path = isPlainObject(value) ? value['path'] : undefined
  return typeof path === 'string' ? wattText(path) : undefined
}

function withDefault(
  draft: ImportDraft,
  key: 'startTimeout' | 'stopTimeout' | 'env' | 'envFile',
  value: unknown,
): KeyOutcome {
  draft.config.defaults = { ...draft.config.defaults, [key]: value }
  return { to: `defaults.${key}` }
}

/** Jobs call a URL. Those of services become entries of the schedule. */
function schedule(draft: ImportDraft, value: unknown): KeyOutcome {
  const left: string[] = []
  for (const job of Array.isArray(value) ? value.filter(isPlainObject) : []) {
    const { name, cron, callbackUrl, method = 'GET', body, enabled = true } = job
    const [, service, path = '/'] = /^http:\/\/([\w-]+)\.plt\.local(\/\S*)?$/.exec(String(callbackUrl)) ?? []
    if (service === undefined || enabled === false || whyNotCron(String(cron), undefined) !== undefined) {
      left.push(String(name))
      continue
    }
    const request = `${String(method)} http://${service}.internal${path}`
    const input = body === undefined ? {} : { input: body as string }
    draft.config.schedule = { ...draft.config.schedule, [String(name)]: { cron: String(cron), request, ...input } }
  }
  const note =
    left.length === 0
      ? 'without retries and headers'
      : `without ${left.join(', ')}: no request to a service, or switched off`
  return draft.config.schedule === undefined ? { why: note } : { to: 'schedule', note }
}
