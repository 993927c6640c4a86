/** Probes, as Kubernetes asks them: the status says all. They name no service and need no token. */
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { answerProbe } from '../../../shared/health/probes.ts'
import type { RunningApp } from '../../running-app.ts'
import { defineText } from './operation.ts'

const service = z.object({ service: z.string() })

const common = { method: 'GET', type: 'text/plain', isPublic: true } as const

export const getHealthz = defineText({
  ...common,
  name: 'getHealthz',
  path: '/healthz',
  summary: '200 while the supervisor runs.',
  input: z.object({}),
  handle: (_, { running }) => textOf(running, '/healthz'),
})

export const getReadyz = defineText({
  ...common,
  name: 'getReadyz',
  path: '/readyz',
  summary: '200 while the app runs and every service has a healthy instance; otherwise 503.',
  input: z.object({}),
  handle: (_, { running }) => textOf(running, '/readyz'),
})

export const getServiceHealthz = defineText({
  ...common,
  name: 'getServiceHealthz',
  path: '/healthz/{service}',
  summary: '503 if the service has no healthy instance, and none is about to start.',
  input: service,
  handle: (input, { running }) => textOf(running, '/healthz', input.service),
})

export const getServiceReadyz = defineText({
  ...common,
  name: 'getServiceReadyz',
  path: '/readyz/{service}',
  summary: '200 while the app runs and the service has a healthy instance; otherwise 503.',
  input: service,
  handle: (input, { running }) => textOf(running, '/readyz', input.service),
})

function textOf({ app, readiness }: RunningApp, probe: '/healthz' | '/readyz', service?: string): string {
  const names = app.services.map(({ name }) => name)
  // A name that was percent-encoded may have a slash.
  if (service !== undefined && !names.includes(service))
    throw new BusbarError('ROUTE_NOT_FOUND', { message: 'no such service' })
  const { status, text } = answerProbe(service === undefined ? probe : `${probe}/${service}`, readiness, names)
  if (status === 503) throw new BusbarError('SERVICE_UNAVAILABLE', { message: text })
  return `${text}\n`
}
