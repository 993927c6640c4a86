import type { Service } from '../../config/app.ts'
import type { Log } from '../../contract/context.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import type { QueueHost } from '../../queue/queue-host.ts'
import type { QueueCells } from '../../shared/metrics/queue-cells.ts'
import type { Metering } from '../reporting/metering.ts'

/** Creates the service that owns the queue. Undefined for every other service. */
export async function openQueue(
  { queueSettings, stopTimeout }: Service,
  { queueCalls: calls, metering }: { readonly queueCalls: QueueCalls; readonly metering?: Metering },
  log: Log,
): Promise<QueueHost | undefined> {
  if (queueSettings === undefined) return undefined
  // Loaded only here: it loads SQLite.
  const module = await import('../../queue/queue-host.ts')
  const known = new Map<string, QueueCells | undefined>()
  const cells = (service: string): QueueCells | undefined => {
    if (calls.isKnown(service) && !known.has(service)) known.set(service, metering?.queueOf(service))
    return known.get(service)
  }
  return new module.QueueHost({ settings: queueSettings, calls, log, cells, stopTimeout })
}
