/** The context of a trace in the header fields of a request. */
import type { IncomingMessage } from 'node:http'
import type { Trace } from '../../contract/context.ts'

export const parentField = 'traceparent'
export const stateField = 'tracestate'

/**
 * `fields`: name, value, name, value…, as `rawHeaders` of Node. Several parents are read as one
 * that is not valid. A state may be in several fields, in order (W3C Trace Context, 3.3.1).
 */
export function readTrace(fields: readonly string[]): Trace | undefined {
  const traceparent = valueOf(fields, parentField)
  if (traceparent === undefined) return undefined
  const tracestate = valueOf(fields, stateField)
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/** To fields that have no parent. */
export function addTrace(fields: string[], { traceparent, tracestate }: Trace): void {
  fields.push(parentField, traceparent)
  if (tracestate !== undefined) setField(fields, stateField, tracestate)
}

/** Replaces a context, and a state that belongs to none. */
export function writeTrace(fields: string[], { traceparent, tracestate }: Trace): void {
  removeTrace(fields)
  fields.push(parentField, traceparent)
  if (tracestate !== undefined) fields.push(stateField, tracestate)
}

export function removeTrace(fields: string[]): void {
  removeField(fields, parentField)
  removeField(fields, stateField)
}

/** Of a request that Node has parsed. */
export function readTraceOf({ headers, rawHeaders }: IncomingMessage): Trace | undefined {
  return headers[parentField] === undefined ? undefined : readTrace(rawHeaders)
}

/**
 * {@link writeTrace} for a request that Node has parsed: the program sees the new context in all
 * views. Node derives the other two from the list on first access.
 */
export function writeTraceTo({ headers, headersDistinct, rawHeaders }: IncomingMessage, trace: Trace): void {
  const { traceparent, tracestate } = trace
  const hadNone = headers[parentField] === undefined && headers[stateField] === undefined
  headers[parentField] = traceparent
  headersDistinct[parentField] = [traceparent]
  if (tracestate !== undefined) {
    headers[stateField] = tracestate
    headersDistinct[stateField] = [tracestate]
  } else if (!hadNone) {
    delete headers[stateField]
    delete headersDistinct[stateField]
  }
  if (hadNone) addTrace(rawHeaders, trace)
  else writeTrace(rawHeaders, trace)
}

/** The same for a request that has no context. */
export function appendTraceTo({ headers, rawHeaders }: IncomingMessage, { traceparent, tracestate }: Trace): void {
  headers[parentField] = traceparent
  rawHeaders.push(parentField, traceparent)
  if (tracestate === undefined) return
  headers[stateField] = tracestate
  setField(rawHeaders, stateField, tracestate)
}

function valueOf(fields: readonly string[], name: string): string | undefined {
  let at = indexOf(fields, name, 0)
  if (at < 0) return undefined
  let value = fields[at + 1]!
  while ((at = indexOf(fields, name, at + 2)) >= 0) value += `,${fields[at + 1]!}`
  return value
}

function setField(fields: string[], name: string, value: string): void {
  removeField(fields, name)
  fields.push(name, value)
}

function removeField(fields: string[], name: string): void {
  for (let at = indexOf(fields, name, 0); at >= 0; at = indexOf(fields, name, at)) fields.splice(at, 2)
}

function indexOf(fields: readonly string[], name: string, from: number): number {
  for (let at = from; at < fields.length; at += 2) {
    const field = fields[at]!
    if (field.length === name.length && (field === name || field.toLowerCase() === name)) return at
  }
  return -1
}
