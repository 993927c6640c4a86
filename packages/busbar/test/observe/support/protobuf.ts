/** Decodes messages of protobuf by a form: the parts of OTLP that tests read. */

export type Decoded = { [name: string]: unknown }

type Kind = 'text' | 'bytes' | 'number' | 'double' | 'fixed' | 'doubles' | 'fixeds'
/** By number: the name of the field, and its kind or its form. `[]`: it repeats. */
interface Form {
  readonly [number: number]: readonly [name: string, of: Kind | Form, repeats?: '[]']
}

const anyValue: Form = { 1: ['text', 'text'], 2: ['flag', 'number'], 3: ['int', 'number'], 4: ['double', 'double'] }
const keyValue: Form = { 1: ['key', 'text'], 2: ['value', anyValue] }
const resource: Form = { 1: ['attributes', keyValue, '[]'] }
const scope: Form = { 1: ['name', 'text'] }
const status: Form = { 2: ['message', 'text'], 3: ['code', 'number'] }
const span: Form = {
  1: ['traceId', 'bytes'],
  2: ['spanId', 'bytes'],
  3: ['state', 'text'],
  4: ['parentSpanId', 'bytes'],
  5: ['name', 'text'],
  6: ['kind', 'number'],
  7: ['start', 'fixed'],
  8: ['end', 'fixed'],
  9: ['attributes', keyValue, '[]'],
  15: ['status', status],
}
export const tracesForm: Form = {
  1: [
    'resourceSpans',
    { 1: ['resource', resource], 2: ['scopeSpans', { 1: ['scope', scope], 2: ['spans', span, '[]'] }, '[]'] },
    '[]',
  ],
}

const times: Form = { 2: ['start', 'fixed'], 3: ['time', 'fixed'] }
const numberPoint: Form = { ...times, 4: ['value', 'double'], 6: ['value', 'fixed'], 7: ['attributes', keyValue, '[]'] }
const histogramPoint: Form = {
  ...times,
  4: ['count', 'fixed'],
  5: ['sum', 'double'],
  6: ['counts', 'fixeds'],
  7: ['bounds', 'doubles'],
  9: ['attributes', keyValue, '[]'],
}
const metric: Form = {
  1: ['name', 'text'],
  2: ['description', 'text'],
  3: ['unit', 'text'],
  5: ['gauge', { 1: ['dataPoints', numberPoint, '[]'] }],
  7: ['sum', { 1: ['dataPoints', numberPoint, '[]'], 2: ['temporality', 'number'], 3: ['isMonotonic', 'number'] }],
  9: ['histogram', { 1: ['dataPoints', histogramPoint, '[]'], 2: ['temporality', 'number'] }],
}
export const metricsForm: Form = {
  1: [
    'resourceMetrics',
    { 1: ['resource', resource], 2: ['scopeMetrics', { 1: ['scope', scope], 2: ['metrics', metric, '[]'] }, '[]'] },
    '[]',
  ],
}

export function decode(bytes: Uint8Array, form: Form): Decoded {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: Decoded = {}
  let at = 0
  const varint = (): number => {
    let [value, shift] = [0, 1]
    for (;;) {
      const byte = view[at++]!
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      shift *= 128
    }
  }
  while (at < view.length) {
    const tag = varint()
    const [name, of, repeats] = form[Math.floor(tag / 8)] ?? []
    let value: unknown
    switch (tag % 8) {
      case 0:
        value = varint()
        break
      case 1:
        value = of === 'double' ? view.readDoubleLE(at) : Number(view.readBigUInt64LE(at))
        at += 8
        break
      case 2: {
        const length = varint()
        value = of === undefined ? undefined : inner(view.subarray(at, at + length), of)
        at += length
        break
      }
      case 5:
        at += 4
        break
      default:
        throw new Error(`wire type ${tag % 8}`)
    }
    if (name === undefined) continue
    if (repeats === undefined) found[name] = value
    else ((found[name] ??= []) as unknown[]).push(value)
  }
  return found
}

function inner(bytes: Buffer, of: Kind | Form): unknown {
  if (typeof of === 'object') return decode(bytes, of)
  if (of === 'text') return bytes.toString()
  if (of === 'bytes') return bytes
  const eights = Array.from({ length: bytes.length / 8 }, (_, at) => at * 8)
  return eights.map((at) => (of === 'doubles' ? bytes.readDoubleLE(at) : Number(bytes.readBigUInt64LE(at))))
}
