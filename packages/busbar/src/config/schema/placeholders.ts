import type { Problems } from '../problems.ts'
import { showPath } from './paths.ts'

/** `$${` stands for itself; `${NAME}`, `${NAME:-default}`; or a `${` that is neither. */
const pattern = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{[^}]*\}?/g

/** Stands where a text could not be filled; no schema takes it, and it has been reported. */
export const unfilled = Symbol('unfilled')

type Path = readonly (string | number)[]

/**
 * Fills `${NAME}` and `${NAME:-default}` in every text of the config from `env`. As in a shell, the default also
 * stands in for an empty variable. A text that cannot be filled is a problem,
 * and {@link unfilled} stands in its place.
 */
export function fillPlaceholders(value: unknown, env: NodeJS.ProcessEnv, problems: Problems, path: Path = []): unknown {
  if (typeof value === 'string') return fillText(value, env, problems, path)
  if (Array.isArray(value)) return value.map((part, index) => fillPlaceholders(part, env, problems, [...path, index]))
  if (!isPlainObject(value)) return value
  // `fromEntries` defines keys, where an assignment to `__proto__` would not.
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, fillPlaceholders(part, env, problems, [...path, key])]),
  )
}

function fillText(text: string, env: NodeJS.ProcessEnv, problems: Problems, path: Path): string | symbol {
  let complete = true
  const filled = text.replaceAll(pattern, (found, name?: string, fallback?: string) => {
    if (found === '$${') return '${'
    const value = name === undefined ? undefined : fallback === undefined ? env[name] : env[name] || fallback
    if (value !== undefined) return value
    complete = false
    report(problems, showPath(path), found, name)
    return ''
  })
  return complete ? filled : unfilled
}

function report(problems: Problems, where: string, found: string, name: string | undefined): void {
  if (name === undefined)
    problems.add('CONFIG_INVALID', {
      message: `${where} has ${found}, which is no placeholder`,
      hint: 'Write ${NAME}, or ${NAME:-default}, or $${ for the characters themselves.',
    })
  else
    problems.add('CONFIG_VARIABLE_MISSING', {
      message: `${where} needs the environment variable ${name}, which is not set`,
      hint: `Set ${name}, or give a default: \${${name}:-value}.`,
    })
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // A config that ran in another context (a test runner's, say) has another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
