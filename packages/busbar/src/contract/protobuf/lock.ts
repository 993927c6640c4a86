import { BusbarError } from '../errors.ts'
import type { Draft, DraftField } from './message-builder.ts'
import { type LockedField, type LockedMethod, type ProtoLock, reservedFrom, reservedTo } from './lock-types.ts'
import { type Field, fieldTypeText, type Message, type ProtoFile } from './model.ts'

/** The name of the file beside `contract.*`. */
export const lockFileName = 'proto.lock.json'

/** Gives each field its number: that of the lock, else the next one. */
export function numbered(draft: Draft, lock: ProtoLock | undefined, service: string): Message {
  const locked = lock?.messages[draft.name] ?? {}
  let last = Math.max(0, ...Object.values(locked).map(({ number }) => number))
  const fields = draft.fields.map((field): Field => {
    const known = Object.hasOwn(locked, field.name) ? locked[field.name] : undefined
    if (known !== undefined) checkSame(draft.name, field, known, service)
    if (known === undefined) last = last + 1 === reservedFrom ? reservedTo + 1 : last + 1
    return { ...field, number: known?.number ?? last }
  })
  const names = new Set(fields.map(({ name }) => name))
  const removed = Object.entries(locked)
    .filter(([name]) => !names.has(name))
    .map(([name, { number }]) => ({ name, number }))
  return { ...draft, fields, removed }
}

function checkSame(message: string, field: DraftField, { type, number }: LockedField, service: string): void {
  const now = fieldTypeText(field)
  if (singular(now) === singular(type)) return
  throw incompatible(
    service,
    `field ${number} of ${message}, ${field.name}, was '${type}' when its number was given, and is now '${now}'`,
    'Clients would read other values than are sent. Give the property another name; the old number stays reserved.',
  )
}

/** A single value may become optional, and the other way round: the bytes are the same. */
function singular(type: string): string {
  return type.replace(/^optional /, '')
}

/** Throws PROTO_INCOMPATIBLE if clients of the lock's methods could not call those of the file. */
export function checkMethods({ methods, service, package: name }: ProtoFile, lock: ProtoLock, contract: string): void {
  const full = `${name}.${service}`
  if (lock.service !== full)
    throw incompatible(
      contract,
      `its gRPC service was ${lock.service}, and is now ${full}`,
      `Clients call it by that name. Write grpc: '${lock.service}' in the options of service().`,
    )
  for (const method of methods) {
    const known = lock.methods[method.name]
    const now = lockedMethod(method)
    if (known === undefined || textOf(known) === textOf(now)) continue
    throw incompatible(
      contract,
      `${method.name} was ${textOf(known)}, and is now ${textOf(now)}`,
      'Clients would send and read other messages. Add a method with another name.',
    )
  }
}

function textOf({ request, response, streams = 'none' }: LockedMethod): string {
  const from = streams === 'client' || streams === 'both' ? `stream ${request}` : request
  return `(${from}) returns (${streams === 'server' || streams === 'both' ? `stream ${response}` : response})`
}

function lockedMethod({ request, response, clientStreams, serverStreams }: ProtoFile['methods'][number]): LockedMethod {
  const streams = clientStreams ? (serverStreams ? 'both' : 'client') : serverStreams ? 'server' : undefined
  return { request, response, ...(streams !== undefined && { streams }) }
}

/** The lock of a file, with all that `lock` has and the file has not. */
export function toLock(file: ProtoFile, lock: ProtoLock | undefined): ProtoLock {
  const methods = Object.fromEntries(file.methods.map((method) => [method.name, lockedMethod(method)]))
  const messages = Object.fromEntries(
    [...file.messages.values()].map((message) => [message.name, lockedFields(message, lock)]),
  )
  const gone = Object.entries(lock?.messages ?? {})
    .filter(([name]) => !Object.hasOwn(messages, name))
    .map(([name, fields]) => [name, withRemoved(fields)] as const)
  return {
    service: `${file.package}.${file.service}`,
    methods: { ...lock?.methods, ...methods },
    messages: { ...messages, ...Object.fromEntries(gone) },
  }
}

function lockedFields({ name, fields }: Message, lock: ProtoLock | undefined): Readonly<Record<string, LockedField>> {
  const now = fields.map((field): [string, LockedField] => [
    field.name,
    { number: field.number, type: fieldTypeText(field) },
  ])
  const all = { ...withRemoved(lock?.messages[name] ?? {}), ...Object.fromEntries(now) }
  return Object.fromEntries(Object.entries(all).toSorted(([, one], [, other]) => one.number - other.number))
}

function withRemoved(fields: Readonly<Record<string, LockedField>>): Record<string, LockedField> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, removed: true }]))
}

function incompatible(service: string, message: string, hint: string): BusbarError {
  return new BusbarError('PROTO_INCOMPATIBLE', { message: `the contract of '${service}': ${message}`, hint, service })
}
