/**
 * Operations that change how the app runs. Each is one generation, or a restart of the whole app.
 */
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import type { InstanceCount } from '../../generations/changes.ts'
import { knownService } from './serving-worker.ts'
import { defineJson } from './operation.ts'

const service = z.string().meta({ description: 'the name of the service' })

const change = z.object({
  generation: z.int().meta({ description: 'the number of the generation that runs now; the first is 1' }),
  replaced: z.int().meta({ description: 'workers that were replaced' }),
  added: z.int().meta({ description: 'workers that were added' }),
  removed: z.int().meta({ description: 'workers that were removed' }),
  kept: z.int().meta({ description: 'workers that stay as they were' }),
  took: z.number().meta({ description: 'milliseconds until the new workers took over' }),
})

export const reloadApp = defineJson({
  name: 'reloadApp',
  method: 'POST',
  path: '/reload',
  summary: 'Applies what differs in the config, and replaces the workers of one service or of all.',
  input: z.strictObject({ service: service.optional() }),
  output: change,
  handle: ({ service }, { running }) => running.reload(service),
})

export const scaleService = defineJson({
  name: 'scaleService',
  method: 'POST',
  path: '/services/{service}/scale',
  summary: 'Changes how many instances a service has; for a shared one, how many shared workers there are.',
  input: z.strictObject({
    service,
    instances: z
      .union([z.int().min(1), z.string().regex(/^[+-]\d+$/)])
      .meta({ description: 'how many: `3`; or how many more or fewer: `"+1"`, `"-1"`' }),
  }),
  output: change,
  handle({ service, instances }, { running }) {
    knownService(running.app, service)
    return running.scale(service, instances as InstanceCount)
  },
})

export const moveService = defineJson({
  name: 'moveService',
  method: 'POST',
  path: '/services/{service}/move',
  summary: 'Changes where a service runs, while it serves.',
  input: z.strictObject({
    service,
    run: z.enum(['shared', 'thread', 'process']),
    instances: z.int().min(1).optional().meta({ description: 'how many; default: as many as before' }),
  }),
  output: change,
  handle({ service, run, instances }, { running }) {
    knownService(running.app, service)
    return running.move(service, { run, instances })
  },
})

export const restartApp = defineJson({
  name: 'restartApp',
  method: 'POST',
  path: '/restart',
  summary: 'Reads the config, then begins to stop the whole app and to start it again. Answers at once.',
  input: z.strictObject({}),
  status: 202,
  output: z.object({
    startedAt: z.number().meta({ description: 'when the run began that ends now' }),
    stopTimeout: z.number().meta({ description: 'milliseconds that the stop may take' }),
  }),
  async handle(_, { running, requestRestart }) {
    if (requestRestart === undefined)
      throw new BusbarError('OPERATION_UNSUPPORTED', {
        message: 'the program that started this app cannot restart it',
        hint: 'Stop it and start it again in that program, or run it by busbar start.',
      })
    const { startedAt } = running.status().app
    const { stopTimeout, stopDelay = 0 } = running.app
    await requestRestart()
    return { startedAt, stopTimeout: stopDelay + stopTimeout }
  },
})
