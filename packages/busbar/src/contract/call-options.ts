import type { CallOptions } from './calls.ts'
import { BusbarError, type InputIssue } from './errors.ts'
import { isHeaderName, isHeaderValue } from './header-syntax.ts'

/**
 * Why a call cannot be made with these options; undefined where it can. Asked before any transport is, so that all of them
 * refuse the same.
 */
export function faultOf(site: { service: string; method: string }, options: CallOptions): BusbarError | undefined {
  const { timeout, metadata } = options
  if (timeout !== undefined && !isTimeLimit(timeout))
    return refusal(site, ['timeout'], `${shown(timeout)} is no number of milliseconds`)
  return metadata === undefined ? undefined : metadataFault(site, metadata)
}

/** Negative ones are time that is over. */
export function isTimeLimit(timeout: unknown): timeout is number {
  return typeof timeout === 'number' && !Number.isNaN(timeout)
}

/** Over HTTP it is headers: what these cannot hold would be refused there, or arrive as something else. */
function metadataFault(site: { service: string; method: string }, metadata: object): BusbarError | undefined {
  for (const [name, value] of Object.entries(metadata) as [string, unknown][]) {
    const fault = headerFault(name, value)
    if (fault !== undefined) return refusal(site, ['metadata', name], fault)
  }
  return undefined
}

function headerFault(name: string, value: unknown): string | undefined {
  if (!isHeaderName(name)) return 'it is no name of a header'
  if (typeof value !== 'string') return `its value is no text: ${shown(value)}`
  if (!isHeaderValue(value)) return 'its value has characters that no header can hold'
  return value === value.trim() ? undefined : 'its value begins or ends with a space'
}

export function refusal(
  { service, method }: { service: string; method: string },
  path: readonly string[],
  fault: string,
): BusbarError {
  const issues: readonly InputIssue[] = [{ path, message: fault }]
  const message = `${service}.${method} cannot be called with this ${path.join(' ')}: ${fault}`
  return new BusbarError('INPUT_INVALID', { message, service, data: { issues } })
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
