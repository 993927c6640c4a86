import type { CallOptions } from './call-types.ts'
import { BusbarError, type InputIssue } from '../errors.ts'
import { isHeaderName, isHeaderValue } from '../header-syntax.ts'

/**
 * The error for invalid call options; undefined if they are valid. Checked before any transport is
 * used, so all transports refuse the same options.
 */
export function faultOf(site: { service: string; method: string }, options: CallOptions): BusbarError | undefined {
  const { timeout, metadata } = options
  if (timeout !== undefined && !isTimeLimit(timeout))
    return refusal(site, ['timeout'], `${display(timeout)} is not a number of milliseconds`)
  return metadata === undefined ? undefined : metadataFault(site, metadata)
}

/** Negative values are allowed: the time is already over. */
export function isTimeLimit(timeout: unknown): timeout is number {
  return typeof timeout === 'number' && !Number.isNaN(timeout)
}

/**
 * Metadata becomes headers over HTTP. Values that a header cannot hold would be refused there, or
 * arrive changed.
 */
function metadataFault(site: { service: string; method: string }, metadata: object): BusbarError | undefined {
  for (const [name, value] of Object.entries(metadata) as [string, unknown][]) {
    const fault = headerFault(name, value)
    if (fault !== undefined) return refusal(site, ['metadata', name], fault)
  }
  return undefined
}

function headerFault(name: string, value: unknown): string | undefined {
  if (!isHeaderName(name)) return 'it is not a valid header name'
  if (typeof value !== 'string') return `its value is not a string: ${display(value)}`
  if (!isHeaderValue(value)) return 'its value contains characters that are not allowed in a header'
  return value === value.trim() ? undefined : 'its value begins or ends with whitespace'
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

function display(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
