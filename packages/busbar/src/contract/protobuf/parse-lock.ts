import { BusbarError } from '../errors.ts'
import { type LockedField, type LockedMethod, type ProtoLock, reservedFrom, reservedTo } from './lock-types.ts'

/** The largest number of a field. */
const maxNumber = 2 ** 29 - 1

/** Throws CONTRACT_INVALID if the text is not a lock. `where` names it in the error. */
export function parseLock(text: string, where: string): ProtoLock {
  const lock = parsed(text)
  if (!isLock(lock))
    throw new BusbarError('CONTRACT_INVALID', {
      message: `${where} is not a file that busbar proto has written`,
      hint: 'Restore it from version control: it holds the numbers that clients use.',
    })
  checkNumbers(lock, where)
  return lock
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isLock(value: unknown): value is ProtoLock {
  if (!isTable(value) || typeof value['service'] !== 'string') return false
  const { methods, messages } = value
  if (!isTable(methods) || !isTable(messages)) return false
  return (
    Object.values(methods).every(isMethod) &&
    Object.values(messages).every((fields) => isTable(fields) && Object.values(fields).every(isField))
  )
}

function isMethod(value: unknown): value is LockedMethod {
  return isTable(value) && typeof value['request'] === 'string' && typeof value['response'] === 'string'
}

function isField(value: unknown): value is LockedField {
  return isTable(value) && typeof value['type'] === 'string' && isNumber(value['number'])
}

function isNumber(value: unknown): boolean {
  if (!Number.isInteger(value)) return false
  const number = value as number
  return number >= 1 && number <= maxNumber && (number < reservedFrom || number > reservedTo)
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Two branches may each have given the next number to a field of theirs. */
function checkNumbers({ messages }: ProtoLock, where: string): void {
  for (const [message, fields] of Object.entries(messages)) {
    const names = new Map<number, string>()
    for (const [name, { number }] of Object.entries(fields)) {
      const other = names.get(number)
      if (other !== undefined)
        throw new BusbarError('CONTRACT_INVALID', {
          message: `${where} gives ${other} and ${name} of ${message} the same number, ${number}`,
          hint: 'Keep the line of the field that clients know, remove the other one, and run busbar proto --lock.',
        })
      names.set(number, name)
    }
  }
}
