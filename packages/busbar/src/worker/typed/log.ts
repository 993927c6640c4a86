import type { Log } from '../../contract/context.ts'
import type { LogRecord } from '../../shared/control.ts'

/** A typed service's `log`: lines among those of its app, with their level. */
export function logOf(service: string, log: (record: LogRecord) => void): Log {
  const say =
    (level: LogRecord['level']) =>
    (message: string, fields?: object): void =>
      log({
        time: Date.now(),
        level,
        service,
        stream: 'busbar',
        line: fields === undefined ? message : `${message} ${show(fields)}`,
      })
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
}

/** A log never throws, whatever it is given. */
function show(fields: object): string {
  try {
    return JSON.stringify(fields)
  } catch {
    return '[fields that are no JSON]'
  }
}
