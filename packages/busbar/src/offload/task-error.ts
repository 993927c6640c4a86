import { BusbarError, type ErrorParts } from '../contract/errors.ts'

/**
 * A thrown value as it crosses threads. A structured clone would lose `code` and the class name.
 */
export type TaskErrorRecord =
  | ({ readonly kind: 'busbar'; readonly code: string; readonly stack: string | undefined } & ErrorParts)
  | {
      readonly kind: 'error'
      readonly name: string
      readonly message: string
      readonly stack: string | undefined
      readonly code: unknown
      readonly cause: TaskErrorRecord | undefined
    }
  /** A value that is not an error, as text if it cannot be cloned. */
  | { readonly kind: 'value'; readonly value: unknown }

/** The maximum length of a chain of causes. */
const maxDepth = 5
const mark = '\n    in a thread of offload()'
const builtIn = new Map<string, ErrorConstructor>(
  [TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map((each) => [each.name, each]),
)

export function toTaskErrorRecord(thrown: unknown, depth = 0): TaskErrorRecord {
  if (!(thrown instanceof Error)) return { kind: 'value', value: cloneable(thrown) }
  const { name, message, stack } = thrown
  if (BusbarError.is(thrown)) {
    const { code, hint, service, data } = thrown
    return { kind: 'busbar', code, message, stack, data: cloneable(data), ...defined({ hint, service }) }
  }
  const { code, cause } = thrown as { code?: unknown; cause?: unknown }
  const cut = cause === undefined || depth === maxDepth
  const inner = cut ? undefined : toTaskErrorRecord(cause, depth + 1)
  return { kind: 'error', name, message, stack, code: cloneable(code), cause: inner }
}

/** Restores an error of the same name, with the thread's stack. */
export function fromTaskErrorRecord(record: TaskErrorRecord): unknown {
  if (record.kind === 'value') return record.value
  const error = record.kind === 'busbar' ? new BusbarError(record.code as 'INTERNAL', record) : rebuild(record)
  if (record.stack !== undefined) error.stack = record.stack + mark
  return error
}

function rebuild({ name, message, code, cause }: Extract<TaskErrorRecord, { kind: 'error' }>): Error {
  const Class = builtIn.get(name) ?? Error
  const error = new Class(message, cause === undefined ? undefined : { cause: fromTaskErrorRecord(cause) })
  // Not enumerable, as in Node's own errors.
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  if (code !== undefined) Object.assign(error, { code })
  return error
}

function cloneable(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return String(value)
  }
}

function defined<Fields extends Record<string, unknown>>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>
}
