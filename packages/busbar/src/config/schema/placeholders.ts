import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Problems } from '../problems.ts'
import { formatPath } from './describe.ts'

/**
 * An escaped `$${`, a secret `${file:/run/secrets/x}`, a placeholder `${NAME}` or
 * `${NAME:-default}`, or a malformed `${`.
 */
const pattern = /\$\$\{|\$\{file:([^{}]+)\}|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{[^}]*\}?/g

/** Bytes. A secret is a password or a key, not a document. */
const maxSecret = 64 * 1024

/** Replaces a text with an unknown variable. The problem is already reported. */
export const unfilled = Symbol('unfilled')

type Path = readonly (string | number)[]

export interface PlaceholderSources {
  readonly env: NodeJS.ProcessEnv
  /** The folder of the config: paths are relative to it. */
  readonly root: string
  /** Receives what secret files contain. */
  readonly secrets: Set<string>
  /** Whether the app starts here. If not, what only its services need may be missing. */
  readonly starts: boolean
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:path}` in all texts of the config. As in a
 * shell, the default also replaces an empty variable. A text that cannot be filled, or has a NUL
 * character, is reported and becomes {@link unfilled}.
 */
export function fillPlaceholders(
  value: unknown,
  sources: PlaceholderSources,
  problems: Problems,
  path: Path = [],
): unknown {
  if (typeof value === 'string') return new TextFiller(sources, problems, path).fill(value)
  if (Array.isArray(value))
    return value.map((part, index) => fillPlaceholders(part, sources, problems, [...path, index]))
  if (!isPlainObject(value)) return value
  const filled = Object.entries(value).map(
    ([key, part]) => [key, fillPlaceholders(part, sources, problems, [...path, key])] as const,
  )
  // `fromEntries` defines a key `__proto__`; an assignment would set the prototype.
  return Object.fromEntries(filled.filter(([key, part]) => part !== unfilled || isNeeded(sources, [...path, key])))
}

/** Variables of services are needed where they start. */
function isNeeded({ starts }: PlaceholderSources, path: Path): boolean {
  return starts || path.at(-2) !== 'env'
}

class TextFiller {
  readonly #sources: PlaceholderSources
  readonly #problems: Problems
  readonly #where: string
  readonly #isNeeded: boolean
  #complete = true

  constructor(sources: PlaceholderSources, problems: Problems, path: Path) {
    this.#sources = sources
    this.#problems = problems
    this.#where = formatPath(path)
    this.#isNeeded = isNeeded(sources, path)
  }

  fill(text: string): string | symbol {
    const filled = text.replaceAll(pattern, (found, file?: string, name?: string, fallback?: string) => {
      if (found === '$${') return '${'
      if (file !== undefined) return this.#secret(file) ?? ''
      if (name === undefined) return this.#malformed(found)
      return this.#variable(name, fallback) ?? ''
    })
    if (this.#complete && filled.includes('\0')) this.#refuseNul()
    return this.#complete ? filled : unfilled
  }

  /** Paths, arguments and variables end there. The text is not shown, since it may be secret. */
  #refuseNul(): void {
    this.#complete = false
    this.#problems.add('CONFIG_INVALID', {
      message: `${this.#where} has a NUL character, which no text of a config may have`,
    })
  }

  #variable(name: string, fallback: string | undefined): string | undefined {
    const { env } = this.#sources
    const value = fallback === undefined ? env[name] : env[name] || fallback
    if (value === undefined) {
      this.#complete = false
      if (this.#isNeeded)
        this.#problems.add('CONFIG_VARIABLE_MISSING', {
          message: `${this.#where} needs the environment variable ${name}, which is not set`,
          hint: `Set ${name}, or write a default: \${${name}:-value}.`,
        })
    }
    return value
  }

  /** The content without the newline at its end, which editors and `echo` add. */
  #secret(file: string): string | undefined {
    const { root, secrets } = this.#sources
    try {
      const value = readSecret(resolve(root, file)).replace(/\r?\n$/, '')
      // An environment variable ends there, and Node's error would show the value.
      if (value.includes('\0')) throw new Error('it has a NUL byte, so it is not text')
      secrets.add(value)
      return value
    } catch (cause) {
      this.#complete = false
      if (this.#isNeeded)
        this.#problems.add('SECRET_UNREADABLE', {
          message: `${this.#where} needs the file ${resolve(root, file)}, which cannot be used: ${(cause as Error).message}`,
          hint: hintFor(cause as NodeJS.ErrnoException),
          cause,
        })
      return undefined
    }
  }

  #malformed(found: string): string {
    this.#complete = false
    this.#problems.add('CONFIG_INVALID', {
      message: `${this.#where} has ${found}, which is not a placeholder`,
      hint: 'Write ${NAME}, ${NAME:-default} or ${file:/path}. Write $${ for a literal ${.',
    })
    return ''
  }
}

function hintFor({ code }: NodeJS.ErrnoException): string {
  if (code === 'EACCES' || code === 'EPERM')
    return 'Permit the user who runs the app to read it, and to enter the folders above it.'
  return 'Create the file, or correct the path, which is relative to the folder of the config.'
}

/** Reads a bounded amount, and does not wait for the writer of a pipe. */
function readSecret(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error('it is not a file')
    const content = Buffer.alloc(maxSecret + 1)
    let size = 0
    for (let read = -1; read !== 0 && size <= maxSecret; size += read)
      read = readSync(descriptor, content, size, content.length - size, null)
    if (size > maxSecret) throw new Error(`it is larger than ${maxSecret} bytes`)
    return content.toString('utf8', 0, size)
  } finally {
    closeSync(descriptor)
  }
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // A config evaluated in another context, such as a test runner's, has another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
