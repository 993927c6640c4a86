import type { ErrorRecord } from '../../contract/errors.ts'
import type { Service } from '../../config/app.ts'

/** `failure`: why the last check failed. */
export function healthNeverPassed({ name, startTimeout }: Service, failure: string): ErrorRecord {
  return {
    code: 'PROGRAM_START_TIMEOUT',
    message: `service '${name}' listens, but its health check did not pass within ${startTimeout} ms; the last time, ${failure}`,
    hint: `the path must answer with a status from 200 to 399; raise services.${name}.startTimeout if it needs longer`,
    service: name,
  }
}
