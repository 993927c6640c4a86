import type { Log } from '../../contract/context.ts'
import type { LogRecord } from '../../shared/control-messages.ts'

/** Creates a typed service's `log`, which writes lines with a level to the app's log. */
export function serviceLog(service: string, log: (record: LogRecord) => void): Log {
  const write =
    (level: LogRecord['level']) =>
    (message: string, fields?: object): void =>
      log({
        time: Date.now(),
        level,
        service,
        stream: 'busbar',
        line: fields === undefined ? message : `${message} ${format(fields)}`,
      })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** Does not throw, whatever the fields are. */
function format(fields: object): string {
  try {
    return JSON.stringify(fields)
  } catch {
    return '[fields that cannot be written as JSON]'
  }
}
