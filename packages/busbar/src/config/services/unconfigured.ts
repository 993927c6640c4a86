import type { Service } from '../app.ts'

/** Of a service that the config does not describe: the owner of the queue, or a test double. */
export const unconfigured = {
  group: undefined,
  instances: 1,
  concurrency: undefined,
  queue: 0,
  grace: 0,
  spare: false,
  memory: undefined,
  nodeOptions: [],
  permissions: undefined,
  env: {},
  needs: [],
  expose: [],
  port: undefined,
} as const satisfies Partial<Service>
