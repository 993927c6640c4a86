import * as z from 'zod'
import { integer } from './fields.ts'

export const traces = z
  .strictObject({
    sample: z.number().min(0).max(1).meta({
      title: 'a number from 0 to 1',
      description:
        'The share of the traces that begin in the app which are recorded: 0.01 is 1 %. Failed calls are recorded always.',
    }),
    keep: integer(1, 10_000).prefault(200).meta({
      title: 'an integer from 1 to 10000',
      description: 'How many recent traces the supervisor keeps in memory.',
    }),
  })
  .optional()
  .meta({
    title: 'an object of sample and keep',
    description: 'Records [traces](../guides/traces.md). Default: none.',
  })
