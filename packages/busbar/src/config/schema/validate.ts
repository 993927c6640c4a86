import type * as z from 'zod'
import { allKeys, keysAt, nodeAt } from './json-schema.ts'
import { laterKeys } from './later.ts'
import { nearest } from '../nearest.ts'
import { showKind, showPath, showValue } from './paths.ts'
import { isPlainObject, unfilled } from './placeholders.ts'
import type { Problems } from '../problems.ts'
import { appSchema, type ParsedConfig } from './schema.ts'

type Path = readonly PropertyKey[]
/** A part that is required takes what it is required of along; no way into a config is longer than this. */
const deepest = 6

type Issue = z.core.$ZodIssue

/**
 * Checks a config against the schema and fills its defaults. Parts that are wrong become problems and are left out of
 * what is returned, so that the checks behind this one can still speak of the rest.
 */
export function parseConfig(value: unknown, problems: Problems): ParsedConfig | undefined {
  let rest = value
  for (let round = 0; round < deepest; round++) {
    const parsed = appSchema.safeParse(rest)
    if (parsed.success) return withServices(parsed.data, value)
    const issues = parsed.error.issues.flatMap((issue) => unfold(issue, rest))
    // What is missing later is missing because it was cut.
    if (round === 0) for (const issue of issues) report(issue, value, problems)
    // From the back, so that what is cut from a list does not move what is still to be cut.
    for (const issue of issues.toReversed()) rest = without(rest, issue)
  }
  return undefined
}

/** Where what the config says of services was cut, none are to be looked for instead; without any, nothing is left to check. */
function withServices(parsed: ParsedConfig, value: unknown): ParsedConfig | undefined {
  const said = isPlainObject(value) ? value['services'] : undefined
  if (said === undefined) return parsed
  return isPlainObject(said) ? { ...parsed, services: parsed.services ?? {} } : undefined
}

/** Under `services`, also those that were left out: others may still name them. */
export function declaredNames(value: unknown): string[] {
  return isPlainObject(value) && isPlainObject(value['services']) ? Object.keys(value['services']) : []
}

/** zod reports a union as one issue: where the value chose a branch, the branch's own issues say more. */
function unfold(issue: Issue, value: unknown): Issue[] {
  if (issue.code !== 'invalid_union' || !isPlainObject(valueAt(value, issue.path))) return [issue]
  const branch = issue.errors.find((issues) =>
    issues.every((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys'),
  )
  if (branch === undefined) return [issue]
  for (const inner of branch) inner.path.unshift(...issue.path)
  return branch.flatMap((inner) => unfold(inner, value))
}

function report(issue: Issue, value: unknown, problems: Problems): void {
  if (issue.code === 'unrecognized_keys') for (const key of issue.keys) reportKey([...issue.path, key], problems)
  else if (issue.code === 'invalid_key') reportName(issue.path, problems)
  else reportValue(issue.path, value, problems)
}

function reportKey(path: Path, problems: Problems): void {
  const key = String(path.at(-1))
  const above = path.slice(0, -1)
  // Whether it is a loop as well shows when the gateway's address is known: see `checkRemotes`.
  if (key === 'remote' && above[0] === 'services') return
  const instead = isOfService(above) && Object.hasOwn(laterKeys, key) ? laterKeys[key] : undefined
  if (instead !== undefined)
    return problems.add('PLACEMENT_UNSUPPORTED', {
      message: `${showPath(path)}: this version does not have \`${key}\` yet`,
      hint: instead,
    })
  const valid = keysAt(above)
  const near = nearest(key, valid)
  problems.add('CONFIG_KEY_UNKNOWN', {
    message: `${showPath(path)} is no key${near === undefined ? '' : `; the nearest is ${showPath([...above, near])}`}`,
    hint:
      near === undefined ? (elsewhere(key) ?? `${showPath(above)} may have ${valid.join(', ')}.`) : `Write ${near}.`,
  })
}

/** Where the key would be right: `port` belongs under `gateway`. */
function elsewhere(key: string): string | undefined {
  const places = [...allKeys()].map(({ path }) => path).filter((path) => path.endsWith(`.${key}`))
  return places.length === 0 ? undefined : `The key exists as ${places.join(' and ')}.`
}

/** The name of a variable: the only keys that users choose and the schema restricts. */
function reportName(path: Path, problems: Problems): void {
  problems.add('CONFIG_INVALID', {
    message: `${showPath(path)}: a variable's name is not empty and has no "="`,
  })
}

function reportValue(path: Path, value: unknown, problems: Problems): void {
  const found = valueAt(value, path)
  if (found === unfilled) return
  if (path.length === 1 && path[0] === 'workers' && isPlainObject(found))
    return problems.add('PLACEMENT_UNSUPPORTED', {
      message: 'workers is an object, and this version does not scale by itself yet',
      hint: "Give a number, or 'auto'.",
    })
  const node = nodeAt(path)
  const shown = node?.writeOnly === true ? showKind(found) : showValue(found)
  problems.add('CONFIG_INVALID', {
    message: `${showPath(path)} is ${shown}; allowed is ${node?.title ?? 'something else'}`,
  })
}

function isOfService(path: Path): boolean {
  return (path.length === 2 && path[0] === 'services') || (path.length === 1 && path[0] === 'defaults')
}

function has(value: unknown, path: Path): boolean {
  const above = valueAt(value, path.slice(0, -1))
  return path.length === 0 || (typeof above === 'object' && above !== null && Object.hasOwn(above, path.at(-1)!))
}

function valueAt(value: unknown, path: Path): unknown {
  let at: unknown = value
  for (const key of path)
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined
  return at
}

/** A copy without what the issue is about; where something is missing, without what it is missing from. */
function without(value: unknown, issue: Issue): unknown {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.reduce((rest, key) => cut(rest, [...issue.path, key]), value)
  return cut(value, has(value, issue.path) ? issue.path : issue.path.slice(0, -1))
}

function cut(value: unknown, path: Path): unknown {
  const [key, ...rest] = path
  if (key === undefined) return undefined
  if (Array.isArray(value))
    return value.flatMap((part, at) => (at !== key ? [part] : rest.length === 0 ? [] : [cut(part, rest)]))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      name !== key ? [[name, part]] : rest.length === 0 ? [] : [[name, cut(part, rest)]],
    ),
  )
}
