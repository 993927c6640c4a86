import * as z from 'zod'
import { bytes, durationWithDefault, filled, integer, optionalDuration, size } from './fields.ts'

const attemptsTitle = 'an integer from 1 to 1000'
const attempts = 'How many attempts may fail before an item is a dead letter.'
const backoff = 'The pause after the first attempt that fails. Each further one is twice as long.'
const maxBackoff = 'The longest pause between two attempts.'
const timeout = 'How long one attempt may take.'
const concurrency = 'How many items of a method run at a time, in the whole app.'

const method = z
  .strictObject({
    attempts: integer(1, 1_000).optional().meta({ title: attemptsTitle, description: attempts }),
    backoff: optionalDuration(1, backoff),
    maxBackoff: optionalDuration(1, maxBackoff),
    timeout: optionalDuration(1, timeout),
    concurrency: integer(1, 1_000).optional().meta({ title: attemptsTitle, description: concurrency }),
  })
  .meta({ title: 'an object', description: 'Values for one method, `<service>.<method>`.' })

/** The queue of the app. */
export const queues = z
  .strictObject({
    file: filled().prefault('.busbar/queue.sqlite').meta({
      title: 'a file',
      description:
        'Where the items are, unless the app is in a [cluster](../guides/call/queues.md#in-a-cluster). In a folder that `busbar dev` watches, its name should begin with a dot.',
    }),
    window: durationWithDefault('120s', 0, 'How long the `id` of an item keeps others with the same id out.'),
    maxDepth: integer(1, 10_000_000).prefault(100_000).meta({
      title: 'an integer from 1 to 10000000',
      description: 'How many items may wait and run; further ones are refused with `QUEUE_FULL`.',
    }),
    maxSize: size().prefault('1gb').meta({
      title: bytes,
      description:
        'All items together, also dead letters, [in bytes as they are stored](../guides/call/queues.md#config).',
    }),
    keepDead: integer(0, 100_000).prefault(1_000).meta({
      title: 'an integer from 0 to 100000',
      description: 'How many dead letters are kept. Beyond that, the oldest are deleted.',
    }),
    attempts: integer(1, 1_000).prefault(10).meta({ title: attemptsTitle, description: attempts }),
    backoff: durationWithDefault('1s', 1, backoff),
    maxBackoff: durationWithDefault('600s', 1, maxBackoff),
    timeout: durationWithDefault('60s', 1, timeout),
    concurrency: integer(1, 1_000).prefault(10).meta({ title: attemptsTitle, description: concurrency }),
    methods: z.record(z.string(), method).prefault({}).meta({
      title: 'an object of methods',
      description:
        "Values that differ for single methods, by `<service>.<method>`, also of services with `remote: 'cluster'`: [the hosts that run the items](../guides/call/queues.md#in-a-cluster) use their own.",
    }),
  })
  .optional()
  .meta({
    title: 'an object',
    description: 'Keeps [what is enqueued](../guides/call/queues.md) on disk. Default: nothing can be enqueued.',
  })
