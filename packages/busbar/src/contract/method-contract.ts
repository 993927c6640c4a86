import type { Contract } from './contract.ts'
import { digest } from './digest.ts'
import type { Method } from './method.ts'
import { checksAnything } from './schema.ts'
import { schemaText } from './schema-text.ts'

const known = new WeakMap<Method, string | undefined>()

/**
 * A short text that is the same at both ends if they have the same contract of a method: its kind,
 * its schemas as JSON Schema, and its errors. Undefined for a method without schemas, which fits
 * any. Texts for people make no difference, and neither does what only the callee decides.
 */
export function contractOf(method: Method): string | undefined {
  if (!known.has(method)) known.set(method, describe(method))
  return known.get(method)
}

/** The same for the whole contract of a service, in seven characters: people compare it. */
export function contractOfService({ methods, topics = {} }: Contract): string {
  const all = Object.entries(methods).map(([name, method]) => `${name} ${contractOf(method) ?? ''}`)
  for (const [name, { value }] of Object.entries(topics)) all.push(`${name} topic ${schemaText(value, 'input')}`)
  return digest(sorted(all).join('\n')).slice(0, 7)
}

/** Whether two ends understand each other. */
export function isSameContract(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other
}

function describe({ kind, input, output, errors, idempotent, takesMany }: Method): string | undefined {
  if (!checksAnything(input) && !checksAnything(output)) return undefined
  const declared = Object.entries(errors).map(
    ([code, { status, data }]) => `${code} ${status} ${schemaText(data, 'output')}`,
  )
  const parts = [
    takesMany === true ? `many ${kind}` : kind,
    idempotent,
    schemaText(input, 'input'),
    schemaText(output, 'output'),
    sorted(declared),
  ]
  return digest(JSON.stringify(parts))
}

function sorted(texts: readonly string[]): string[] {
  return texts.toSorted((one, other) => (one < other ? -1 : 1))
}
