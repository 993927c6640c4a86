import type { App } from '../../../config/app.ts'
import type { AppStatus } from '../../../observe/app-status.ts'
import { Redactor } from '../../../observe/redactor.ts'

/** Hides the secrets among environment variables before they are shown. */

/** As in the log. */
const mask = '[redacted]'

/** Names that usually hold secrets, such as `API_KEY`, `DB_PASSWORD` and `SENTRY_DSN`. */
const secretName =
  /(?:secret|token|passw|passphrase|pwd$|credential|private|apikey|api_key|access_key|_key$|^key$|auth|cookie|session|signature|salt|dsn|cert$|_pem$)/i

/**
 * Values that are secrets whatever their name: private keys, JSON web tokens, keys of well-known
 * services.
 */
const secretValue =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|^eyJ[\w-]+\.[\w-]+\.|^(?:sk|pk|rk)_(?:live|test)_|^gh[pousr]_|^github_pat_|^xox[abprs]-|^AKIA[0-9A-Z]{16}$|^glpat-/

/**
 * `postgres://user:password@host`: the part between the first colon and the last `@` before the
 * path.
 */
const urlPassword = /^([a-z][a-z\d+.-]*:\/\/[^/?#@:]*:)[^/?#]*(?=@)/i

/** `?api_key=…&x=1` in a URL. */
const urlParameter = /([?&][^=&#]*(?:secret|token|passw|key|auth|signature)[^=&#]*=)[^&#]*/gi

/** Names that look like secrets and are none. `PWD` and `OLDPWD` are folders. */
const harmless = new Set(['PWD', 'OLDPWD', 'SSH_AUTH_SOCK', 'XDG_SESSION_ID', 'XDG_SESSION_TYPE', 'XDG_SESSION_CLASS'])

/** The value as it may be shown. */
export function maskSecret(name: string, value: string): string {
  if (value === '' || harmless.has(name)) return value
  if (secretName.test(name) || secretValue.test(value)) return mask
  return value.replace(urlPassword, `$1${mask}`).replaceAll(urlParameter, `$1${mask}`)
}

/**
 * Hides in texts what the config reads from files of secrets. Names and paths stay: commands find
 * the app by them, and a short secret may be part of one.
 */
export function redactedStatus(status: AppStatus, { secrets = [] }: Pick<App, 'secrets'>): AppStatus {
  if (secrets.length === 0) return status
  const redactor = new Redactor({ secrets, fields: [] })
  const hide = <T extends string | null>(text: T): T => (text === null ? text : (redactor.text(text) as T))
  return {
    ...status,
    workers: status.workers.map((worker) => {
      const { lastExit: exit } = worker
      if (exit === null) return worker
      return { ...worker, lastExit: { ...exit, text: hide(exit.text), stack: exit.stack.map(hide) } }
    }),
    instances: status.instances.map((one) => ({ ...one, unhealthy: hide(one.unhealthy) })),
    schedule: status.schedule.map((entry) => ({
      ...entry,
      target: hide(entry.target),
      runs: entry.runs.map((run) => ({ ...run, error: hide(run.error) })),
    })),
  }
}
