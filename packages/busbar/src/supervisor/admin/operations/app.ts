/** Operations on the app as a whole. */
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { formatMetrics } from '../../../observe/metrics/metrics.ts'
import { metricsContentTypes } from '../../../observe/metrics/prometheus.ts'
import { defineJson, defineText } from './operation.ts'
import { pidNamespace } from '../../../shared/process/process-identity.ts'
import { redactedStatus } from '../status/redacted.ts'
import { statusSchema } from '../status/status-schema.ts'

/** Not strict: scrapers add parameters of their own. */
const nothing = z.object({})

/** Answers from the supervisor's own knowledge: it waits for no worker. */
export const getStatus = defineJson({
  name: 'getStatus',
  method: 'GET',
  path: '/status',
  summary: 'The workers, services, instances and calls of the app, as `busbar ps --json` prints them.',
  input: nothing,
  output: statusSchema,
  handle: (_, { running }) => redactedStatus(running.status(), running.app),
})

export const getMetrics = defineText({
  name: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'All metrics, in the text format of Prometheus, or in that of OpenMetrics if `Accept` names it.',
  input: nothing,
  type: metricsContentTypes.prometheus,
  other: {
    type: metricsContentTypes.openmetrics,
    handle: (_, { running, observations }) => formatMetrics(running.status(), 'openmetrics', observations.observed),
  },
  handle: (_, { running, observations }) => formatMetrics(running.status(), 'prometheus', observations.observed),
})

export const getReady = defineJson({
  name: 'getReady',
  method: 'GET',
  path: '/ready',
  summary: 'Whether the app runs, every service has a healthy instance, and the gateway a worker; otherwise 503.',
  input: nothing,
  output: z.object({ ready: z.literal(true) }),
  handle(_, { running }) {
    const { ready, unready, phase } = running.status().app
    if (ready) return { ready }
    const why = phase === 'running' ? unready.join(', ') : phase
    throw new BusbarError('SERVICE_UNAVAILABLE', { message: `not ready: ${why}` })
  },
})

export const stopApp = defineJson({
  name: 'stopApp',
  method: 'POST',
  path: '/stop',
  summary: 'Begins a graceful stop of the app and of the command that runs it. Answers at once.',
  input: nothing,
  status: 202,
  output: z.object({
    pid: z.int().meta({ description: 'the process that ends' }),
    namespace: z.string().meta({ description: 'of its process ID (pid_namespaces(7)); empty where there are none' }),
    stopTimeout: z.number().meta({ description: 'milliseconds that the stop may take' }),
  }),
  handle(_, { running, requestStop }) {
    requestStop()
    const { stopTimeout, stopDelay = 0 } = running.app
    return { pid: process.pid, namespace: pidNamespace(), stopTimeout: stopDelay + stopTimeout }
  },
})
