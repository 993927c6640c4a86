/** The lines of the log that the page keeps. */
import { signal } from '@preact/signals'
import type { LogEvent } from '../api/types.ts'

export interface LogLine {
  /** In the order of arrival. */
  readonly id: number
  readonly time: number
  readonly level: number
  readonly service: string | undefined
  readonly worker: number | undefined
  readonly text: string
  /** The other fields of a structured line. */
  readonly fields: Readonly<Record<string, unknown>>
}

const most = 2000

let next = 0

export const lines = signal<readonly LogLine[]>([])

/** After the stream was opened again it begins with lines that are known. */
export function addLines({ lines: added, dropped }: LogEvent): void {
  const latest = lines.value.at(-1)?.time ?? 0
  const known = new Set(lines.value.filter(({ time }) => time === latest).map(({ text }) => text))
  const parsed = added.map(parse).filter(({ time, text }) => time > latest || (time === latest && !known.has(text)))
  const gap = dropped > 0 && latest > 0 ? [droppedLine(dropped, parsed[0]?.time ?? Date.now())] : []
  lines.value = [...lines.value, ...gap, ...parsed].slice(-most)
}

function parse(json: string): LogLine {
  const {
    time,
    level,
    service,
    worker,
    msg,
    pid: _,
    hostname: __,
    name: ___,
    ...fields
  } = JSON.parse(json) as Record<string, unknown>
  return {
    id: next++,
    time: Number(time),
    level: Number(level),
    service: service as string | undefined,
    worker: worker as number | undefined,
    text: typeof msg === 'string' ? msg : JSON.stringify(msg ?? fields),
    fields,
  }
}

function droppedLine(dropped: number, time: number): LogLine {
  const text = `${dropped} lines are not shown: they came faster than they were read`
  return { id: next++, time, level: 40, service: undefined, worker: undefined, text, fields: {} }
}
