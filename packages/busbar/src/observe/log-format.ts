import { createRequire } from 'node:module'
import type * as PinoPretty from 'pino-pretty'
import { colouredLines } from '../shared/output/printable.ts'
import type { JsonContent, LogEntry } from './log-entry.ts'

/** Returns the text of an entry, with its newline. */
export type Format = (entry: LogEntry) => string

/** One JSON object per line, as pino writes it, with `service` and `worker`. */
export function createJsonFormat(): Format {
  return (entry) => {
    const { level, time, content } = entry
    if (content.kind === 'json') return spliceOrigin(entry, content)
    return `${JSON.stringify({ level, time, ...origin(entry), ...content.fields, msg: content.msg })}\n`
  }
}

/** For people: one line per entry, `10:02:11.123 INFO web/0 listening`. */
export function createPrettyFormat(colors: boolean): Format {
  // Loaded on demand: it takes some 60 ms.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty
  const format = prettyFactory({
    colorize: colors,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname,service,worker',
    singleLine: true,
    messageFormat: (log, key) => `${originText(log)}${typeof log[key] === 'string' ? log[key] : ''}`,
  })
  return ({ content, ...entry }) => {
    const fields = content.kind === 'json' ? content.fields : { msg: content.msg, ...content.fields }
    const text = format({ time: entry.time, level: entry.level, ...fields, ...origin(entry) })
    // A further line of one entry must not look like an entry.
    return `${colouredLines(text.trimEnd()).replaceAll(/\n(?! {4})/g, '\n    ')}\n`
  }
}

function origin(entry: Pick<LogEntry, 'service' | 'worker'>): { service?: string; worker?: number } {
  return {
    ...(entry.service !== undefined && { service: entry.service }),
    ...(entry.worker !== undefined && { worker: entry.worker }),
  }
}

/**
 * Appends the origin to the program's line. Serialises the fields again only if one of them has the
 * same name.
 */
function spliceOrigin(entry: LogEntry, content: JsonContent): string {
  const { text, fields } = content
  const added = { ...(fields['time'] === undefined && { time: entry.time }), ...origin(entry) }
  if (Object.keys(added).some((key) => Object.hasOwn(fields, key)))
    return `${JSON.stringify({ ...fields, ...added })}\n`
  const tail = JSON.stringify(added).slice(1)
  return tail === '}' ? `${text}\n` : `${text.slice(0, text.lastIndexOf('}'))},${tail}\n`
}

function originText(log: Record<string, unknown>): string {
  const { service, worker } = log
  const name = typeof service === 'string' ? service : 'busbar'
  return typeof worker === 'number' ? `${name}/${worker} ` : `${name} `
}
