import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { typeImportHint } from '../../config/type-import.ts'
import { BusbarError } from '../../contract/errors.ts'
import { describeAddress } from './report.ts'
import type { ProgramProcess } from './program-process.ts'
import { withOwnStack } from './stack.ts'

const howToServe =
  'A program calls listen() on an HTTP server, or has as its default export a Fastify instance, an Express or Koa app, ' +
  'a request listener, an http.Server, { fetch }, or a function that returns one of those; without a default export, ' +
  'its exports named server, app, handler, fetch and build are tried'

/** `found`: the export that nothing can be done with. */
export function neverListened({ service, servers }: ProgramProcess, found: string | undefined): BusbarError {
  const what = `service '${service.name}' (${service.entry.file})`
  if (servers.length > 0) {
    const ports = servers.map(({ address }) => describeAddress(address)).join(', ')
    return new BusbarError('PROGRAM_NEVER_LISTENED', {
      message: `${what} never listened on port ${service.port}, but on ${ports}`,
      hint: `Let services.${service.name}.port say which of them is the service`,
      service: service.name,
    })
  }
  if (found !== undefined) {
    const message = `${what} does not listen, and ${found}, which cannot be served`
    return new BusbarError('PROGRAM_EXPORT_UNKNOWN', { message, hint: howToServe, service: service.name })
  }
  return new BusbarError('PROGRAM_NEVER_LISTENED', {
    message: `${what} has finished without listening: nothing is left in it that could`,
    hint: howToServe,
    service: service.name,
  })
}

export function startTimeout({ service }: ProgramProcess, pending: readonly string[]): BusbarError {
  const left = pending.length > 0 ? `; it still has ${pending.join(', ')} open` : ''
  return new BusbarError('PROGRAM_START_TIMEOUT', {
    message: `service '${service.name}' (${service.entry.file}) did not listen within ${service.startTimeout} ms${left}`,
    hint: `Raise services.${service.name}.startTimeout if it needs longer`,
    service: service.name,
  })
}

/** What the program threw while it started: a syntax that Node cannot run is told apart from a fault. */
export function startError({ service }: ProgramProcess, thrown: unknown): BusbarError {
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  if (isNotStrippable(thrown)) {
    return new BusbarError('PROGRAM_NOT_STRIPPABLE', {
      message: `service '${service.name}' uses what type stripping cannot run: ${text}`,
      hint:
        "Node removes types and transforms nothing: build the program and let 'entry' name the built file, " +
        'or start it with its own loader, as "start": "node --import tsx src/index.ts" does',
      service: service.name,
      cause: withOwnStack(thrown),
    })
  }
  const hint = isRegisteredTwice(thrown) ? howToRegister : typeImportHint(thrown)
  return new BusbarError('PROGRAM_THREW', {
    message: `service '${service.name}' threw while it started: ${text}`,
    service: service.name,
    cause: withOwnStack(thrown),
    ...(hint !== undefined && { hint }),
  })
}

/** What prom-client says, whose default registry is one per copy of its module. */
function isRegisteredTwice(thrown: unknown): boolean {
  return thrown instanceof Error && /metric .* has already been registered/i.test(thrown.message)
}

const howToRegister =
  'Programs of one thread share the modules of node_modules, so also the default registry of prom-client: ' +
  'give each a new Registry(), and collectDefaultMetrics({ register })'

interface LoadError extends Error {
  readonly code?: unknown
  /** Of ERR_MODULE_NOT_FOUND: what was looked for. */
  readonly url?: unknown
}

/** Enums, parameter properties and namespaces; JSX; decorators; imports without the extension of a TypeScript file. */
function isNotStrippable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { code, url, message, stack = '' } = thrown as LoadError
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return true
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') return true
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return /"\.[jt]sx"/.test(message)
  if (code === 'ERR_MODULE_NOT_FOUND') return typeof url === 'string' && existsAsTypeScript(url)
  // Decorators survive the stripping; V8 then stumbles over the sign.
  return thrown.name === 'SyntaxError' && /^\S+\.[cm]?ts:\d+\n\s*@/.test(stack)
}

/** `./store` and `./store.js` both mean `store.ts` to TypeScript, and to Node neither does. */
function existsAsTypeScript(url: string): boolean {
  if (!url.startsWith('file:')) return false
  const stem = fileURLToPath(url).replace(/\.[cm]?js$/, '')
  return [`${stem}.ts`, `${stem}.mts`, `${stem}.tsx`, `${stem}/index.ts`].some((file) => existsSync(file))
}
