import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { typeImportHint } from '../../../shared/type-import-hint.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { describeAddress } from '../servers/captured-server.ts'
import { type ProgramProcess, withProgramStack } from '../process/program-process.ts'

const howToServe =
  'A program calls listen() on an HTTP server, or has as its default export a Fastify instance, an Express or Koa app, ' +
  'a request listener, an http.Server, { fetch }, or a function that returns one of those; without a default export, ' +
  'its exports named server, app, handler, fetch and build are tried.'

/** `found`: describes an export that cannot be served. */
export function neverListened({ service, servers }: ProgramProcess, found: string | undefined): BusbarError {
  const what = `service '${service.name}' (${service.entry.file})`
  if (servers.length > 0) {
    const ports = servers.map(({ address }) => describeAddress(address)).join(', ')
    return new BusbarError('PROGRAM_NEVER_LISTENED', {
      message: `${what} never listened on port ${service.port}, but on ${ports}`,
      hint: `Set services.${service.name}.port to the port that serves the service.`,
      service: service.name,
    })
  }
  if (found !== undefined) {
    const message = `${what} does not listen, and ${found}, which cannot be served`
    return new BusbarError('PROGRAM_EXPORT_UNKNOWN', { message, hint: howToServe, service: service.name })
  }
  return new BusbarError('PROGRAM_NEVER_LISTENED', {
    message: `${what} has finished without listening: no timer, socket or request is left that could make it listen`,
    hint: howToServe,
    service: service.name,
  })
}

/** `openHandles`: their types. */
export function startTimeout({ service }: ProgramProcess, openHandles: readonly string[]): BusbarError {
  const left = openHandles.length > 0 ? `; open handles: ${openHandles.join(', ')}` : ''
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${service.name}' (${service.entry.file}) did not listen within ${service.startTimeout} ms${left}`,
    hint: `Raise services.${service.name}.startTimeout if it needs longer.`,
    service: service.name,
  })
}

/** For `ready: 'signal'`. */
export function neverSignalled({ service }: ProgramProcess): BusbarError {
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${service.name}' (${service.entry.file}) listens, but did not signal within ${service.startTimeout} ms that it is ready`,
    hint: `Call process.send('ready'), or ready() of busbar, when it is; or remove services.${service.name}.ready.`,
    service: service.name,
  })
}

/**
 * The error of a program that threw while it started. Syntax that Node cannot strip has its own
 * code.
 */
export function startError({ service }: ProgramProcess, thrown: unknown): BusbarError {
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  if (isNotStrippable(thrown)) {
    return new BusbarError('PROGRAM_NOT_STRIPPABLE', {
      message: `service '${service.name}' uses syntax that type stripping does not support: ${text}`,
      hint:
        "Node only removes types. Build the program and set 'entry' to the built file, " +
        'or start it with a loader: "start": "node --import tsx src/index.ts"',
      service: service.name,
      cause: withProgramStack(thrown),
    })
  }
  const hint = isRegisteredTwice(thrown) ? howToRegister : typeImportHint(thrown)
  return new BusbarError('PROGRAM_THREW', {
    message: `service '${service.name}' threw while it started: ${text}`,
    service: service.name,
    cause: withProgramStack(thrown),
    ...(hint !== undefined && { hint }),
  })
}

/** prom-client's error: its default registry exists once per copy of the module. */
function isRegisteredTwice(thrown: unknown): boolean {
  return thrown instanceof Error && /metric .* has already been registered/i.test(thrown.message)
}

const howToRegister =
  'Programs of one thread share the modules of node_modules and so the default registry of prom-client. ' +
  'Give each program a new Registry() and call collectDefaultMetrics({ register }).'

interface LoadError extends Error {
  readonly code?: unknown
  /** The missing module, for ERR_MODULE_NOT_FOUND. */
  readonly url?: unknown
}

/**
 * Enums, parameter properties and namespaces; JSX; decorators; imports without the extension of a
 * TypeScript file.
 */
function isNotStrippable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { code, url, message, stack = '' } = thrown as LoadError
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return true
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') return true
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return /"\.[jt]sx"/.test(message)
  if (code === 'ERR_MODULE_NOT_FOUND') return typeof url === 'string' && existsAsTypeScript(url)
  // Stripping leaves decorators. V8 then reports a syntax error at the `@`.
  return thrown.name === 'SyntaxError' && /^\S+\.[cm]?ts:\d+\n\s*@/.test(stack)
}

/** TypeScript resolves `./store` and `./store.js` to `store.ts`. Node does not. */
function existsAsTypeScript(url: string): boolean {
  if (!url.startsWith('file:')) return false
  const stem = fileURLToPath(url).replace(/\.[cm]?js$/, '')
  return [`${stem}.ts`, `${stem}.mts`, `${stem}.tsx`, `${stem}/index.ts`].some((file) => existsSync(file))
}
