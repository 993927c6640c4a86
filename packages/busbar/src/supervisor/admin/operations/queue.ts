/** Operations on the app's queue. Its owner carries them out, in its worker. */
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { queueService } from '../../../contract/queues/queue-service.ts'
import type { QueueChange, QueueList, QueueOrder } from '../../../shared/queues.ts'
import { defineJson, type OperationContext } from './operation.ts'
import type { WorkerHandle } from '../../workers/worker-handle.ts'
import { servingWorkers } from './serving-worker.ts'

const count = z.int().nonnegative()
const time = z.number().meta({ description: 'milliseconds since 1970' })

const methodItems = z.object({
  service: z.string(),
  method: z.string(),
  waiting: count,
  running: count,
  dead: count,
})

const deadLetter = z.object({
  number: count.meta({ description: 'identifies it for retry and drop' }),
  id: z.string(),
  service: z.string(),
  method: z.string(),
  attempts: count,
  enqueuedAt: time,
  diedAt: time,
  code: z.string().meta({ description: 'of the error of the last attempt' }),
  message: z.string(),
  input: z.string().nullable().meta({ description: 'JSON, as its caller gave it; null: none' }),
})

export const listQueue = defineJson({
  name: 'listQueue',
  method: 'GET',
  path: '/queue',
  summary: 'The items of the queue by method, and the latest dead letters.',
  input: z.strictObject({
    limit: z.coerce.number().int().min(0).max(1_000).default(20).meta({ description: 'at most so many dead letters' }),
    check: z.stringbool().default(false).meta({ description: 'fail if no items can be added' }),
  }),
  output: z.object({ queues: z.array(methodItems), dead: z.array(deadLetter) }),
  async handle({ limit, check: isCheck }, context) {
    const list = (await ask({ kind: 'list', limit, isCheck }, context)) as QueueList
    return { queues: [...list.queues], dead: [...list.dead] }
  },
})

const input = z.strictObject({
  number: z
    .union([z.literal('all'), z.coerce.number().int().min(1)])
    .meta({ description: 'of a dead letter, or `all`' }),
})
const output = z.object({ count: count.meta({ description: 'dead letters that there were' }) })
const retried = z.object({
  count: count.meta({ description: 'dead letters that are back in the queue' }),
  left: count.meta({ description: 'with `all`: those that cannot be put back' }),
  reasons: z
    .array(z.object({ number: count, message: z.string() }))
    .meta({ description: 'why, for the first 20 of these' }),
})

export const retryDeadLetter = defineJson({
  name: 'retryDeadLetter',
  method: 'POST',
  path: '/queue/{number}/retry',
  summary: 'Puts a dead letter, or all, back into the queue. Its attempts begin anew.',
  input,
  output: retried,
  handle: ({ number }, context) => change('retry', number, context),
})

export const dropDeadLetter = defineJson({
  name: 'dropDeadLetter',
  method: 'POST',
  path: '/queue/{number}/drop',
  summary: 'Deletes a dead letter, or all.',
  input,
  output,
  async handle({ number }, context) {
    const { count } = await change('drop', number, context)
    return { count }
  },
})

async function change(kind: 'retry' | 'drop', number: number | 'all', context: OperationContext) {
  const changed = (await ask({ kind, number: number === 'all' ? null : number }, context)) as QueueChange
  if (changed.count > 0 || number === 'all') return { ...changed, reasons: [...changed.reasons] }
  throw new BusbarError('QUEUE_ITEM_UNKNOWN', {
    message: `the queue has no dead letter ${number}`,
    hint: 'List them: busbar queue.',
  })
}

async function ask(order: QueueOrder, context: OperationContext): Promise<unknown> {
  if (!context.running.app.services.some(({ name }) => name === queueService))
    throw new BusbarError('QUEUE_UNAVAILABLE', {
      message: 'this app has no queue',
      hint: 'Add queues: {} to its config.',
    })
  // While a reload replaces the owner, the older one has the queue's file.
  const owners = servingWorkers(queueService, context).toSorted((one, other) => one.worker - other.worker)
  const [worker] = owners as [WorkerHandle]
  return await worker.perform({ kind: 'queue', service: queueService, order })
}
