/**
 * Each format has a table with a rule for every key: where its value goes, or why nothing takes it.
 * So no key is dropped in silence.
 */
import { isPlainObject } from '../config/schema/placeholders.ts'

export type KeyOutcome = { readonly to: string; readonly note?: string } | { readonly why: string }

/** Collects what became of keys. */
export interface Reporter {
  report(from: string, outcome: KeyOutcome): void
}

/** A text is the reason why the key is not mapped. */
export type KeyRule<Context> = string | ((context: Context, value: unknown, key: string) => KeyOutcome)

export type KeyRules<Context> = Readonly<Record<string, KeyRule<Context>>>

export interface RuledObject<Context> {
  /** Its position in the file: `apps[0]`. '' for the file itself. */
  readonly at: string
  readonly object: Readonly<Record<string, unknown>>
  readonly context: Context
  /** For keys that the table does not have. */
  readonly otherwise: KeyRule<Context>
}

/** Applies the rules in the order of the table, then `otherwise` to the other keys. */
export function applyRules<Context>(rules: KeyRules<Context>, ruled: RuledObject<Context>, draft: Reporter): void {
  const { object, context, at, otherwise } = ruled
  const known = Object.keys(rules).filter((key) => Object.hasOwn(object, key))
  const others = Object.keys(object).filter((key) => !Object.hasOwn(rules, key))
  for (const key of [...known, ...others]) {
    const value = object[key]
    if (value === undefined || value === null) continue
    const rule = rules[key] ?? otherwise
    const outcome = typeof rule === 'string' ? { why: rule } : rule(context, value, key)
    draft.report(at === '' ? key : `${at}.${key}`, outcome)
  }
}

/** Variables as a config has them. Anything but text, numbers and booleans becomes JSON. */
export function variablesOf(value: unknown): Record<string, string> {
  if (!isPlainObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined && one !== null)
      .map(([name, one]) => [name, literal(typeof one === 'string' ? one : JSON.stringify(one))]),
  )
}

/** A text in which the config finds no placeholder. */
export function literal(text: string): string {
  // In a replacement text, `$$` would stand for one.
  return text.replaceAll('${', () => '$${')
}

/** A text or a number as text; `usual` for anything else. */
export function textOf(value: unknown, usual: string): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : usual
}

/** Texts of a list, or the words of one text. */
export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? value.trim().split(/\s+/).filter(Boolean) : []
}
