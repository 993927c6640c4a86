import type * as z from 'zod'
import { allKeys, keysAt, nodeAt, type SchemaNode } from './json-schema.ts'
import { nearest } from '../nearest.ts'
import { formatType, formatPath, formatValue } from './describe.ts'
import { isPlainObject, unfilled } from './placeholders.ts'
import type { Problems } from '../problems.ts'
import { appSchema, type ParsedConfig } from './app-schema.ts'

type Path = readonly PropertyKey[]
/**
 * Depth of the config: removing an object without a required part can make its parent incomplete.
 */
const maxRounds = 6

type Issue = z.core.$ZodIssue

/**
 * Validates a config against the schema and fills in defaults. Invalid parts are reported and
 * removed, so that later checks can examine the rest. Undefined if nothing valid is left.
 */
export function parseConfig(value: unknown, problems: Problems): ParsedConfig | undefined {
  let rest = value
  for (let round = 0; round < maxRounds; round++) {
    const parsed = appSchema.safeParse(rest)
    if (parsed.success) return withServices(parsed.data, value)
    const issues = parsed.error.issues.flatMap((issue) => unfold(issue, rest))
    // Issues of later rounds result from removals.
    if (round === 0) for (const issue of issues) report(issue, value, problems)
    // From the last to the first, so that indexes of lists stay valid.
    for (const issue of issues.toReversed()) rest = without(rest, issue)
  }
  return undefined
}

/** If invalid services were removed, the app must not fall back to the folder `services/`. */
function withServices(parsed: ParsedConfig, value: unknown): ParsedConfig | undefined {
  const services = isPlainObject(value) ? value['services'] : undefined
  if (services === undefined) return parsed
  return isPlainObject(services) ? { ...parsed, services: parsed.services ?? {} } : undefined
}

/** All names under `services`, including removed services, since other keys may refer to them. */
export function declaredNames(value: unknown): string[] {
  return isPlainObject(value) && isPlainObject(value['services']) ? Object.keys(value['services']) : []
}

/**
 * zod reports a union as one issue. If the value is an object, the issues of that branch say more.
 */
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
  const valid = keysAt(above)
  const elsewhere = otherPlaces(key)
  const near = elsewhere === undefined || above.length > 0 ? nearest(key, valid) : undefined
  problems.add('CONFIG_KEY_UNKNOWN', {
    message: `${formatPath(path)} is not a key${near === undefined ? '' : `; the nearest is ${formatPath([...above, near])}`}`,
    hint: near === undefined ? (elsewhere ?? `${formatPath(above)} may have ${valid.join(', ')}.`) : `Write ${near}.`,
  })
}

/** Hint for a key in the wrong place: `port` belongs under `gateway`. */
function otherPlaces(key: string): string | undefined {
  const paths = [...allKeys()].map(({ path }) => path).filter((path) => path.endsWith(`.${key}`))
  return paths.length === 0 ? undefined : `The key exists as ${paths.join(' and ')}.`
}

function reportName(path: Path, problems: Problems): void {
  const rule = nameRules[String(path.at(-2))] ?? 'a variable must not be empty or contain "="'
  problems.add('CONFIG_INVALID', { message: `${formatPath(path)}: the name of ${rule}` })
}

/** Of names that users choose and the schema restricts, by the key that they are under. */
const nameRules: Readonly<Record<string, string>> = {
  versions: "a version must be '*', or begin with a letter or a digit and have only these, '.', '+' and '-'",
  headers: 'a header field has letters, digits and hyphens',
}

function reportValue(path: Path, value: unknown, problems: Problems): void {
  const found = valueAt(value, path)
  if (found === unfilled) return
  const node = nodeAt(path)
  const isHidden = node?.writeOnly === true || problems.isSecret(found)
  const shown = isHidden ? formatType(found) : formatValue(found)
  problems.add('CONFIG_INVALID', {
    message: `${formatPath(path)} is ${shown}; allowed is ${node?.title ?? 'something else'}${rangeOf(node, found)}`,
  })
}

/** The range of a number, also of one with a unit, if the title does not name it. */
function rangeOf(node: SchemaNode | undefined, found: unknown): string {
  const isNumber = typeof found === 'number' || (typeof found === 'string' && /^-?[\d.]+[a-zA-Z]*$/.test(found))
  if (!isNumber || node?.title?.includes(' from ') !== false) return ''
  const number = [node, ...(node.anyOf ?? [])].find(({ minimum }) => minimum !== undefined)
  if (number?.minimum === undefined) return ''
  const { minimum, maximum = Infinity } = number
  return `, from ${minimum}${maximum < Number.MAX_SAFE_INTEGER ? ` to ${maximum}` : ''}`
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

/** A copy without the invalid part, or without the object that lacks a required part. */
function without(value: unknown, issue: Issue): unknown {
  const [part, name, key] = issue.path
  // What is left would be another service, or weights and callers that nobody has written.
  if (part === 'services' && key === 'remote') return remove(value, issue.path.slice(0, 2))
  if (part === 'services' && key === 'versions') return remove(value, issue.path.slice(0, 3))
  if (part === 'export' && name === 'allow') return remove(value, [part, name])
  if (issue.code === 'unrecognized_keys')
    return issue.keys.reduce((rest, key) => remove(rest, [...issue.path, key]), value)
  return remove(value, has(value, issue.path) ? issue.path : issue.path.slice(0, -1))
}

function remove(value: unknown, path: Path): unknown {
  const [key, ...rest] = path
  if (key === undefined) return undefined
  if (Array.isArray(value))
    return value.flatMap((part, at) => (at !== key ? [part] : rest.length === 0 ? [] : [remove(part, rest)]))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      name !== key ? [[name, part]] : rest.length === 0 ? [] : [[name, remove(part, rest)]],
    ),
  )
}
