import { join } from 'node:path'
import type { App, Service } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { behindEntrance, TestApp } from '../../support/app/test-app.ts'

export const appFolder = join(import.meta.dirname, '..', 'programs', 'app')

/** The app of `programs/app`, with its service at another placement. */
export async function startThings(
  placement: Partial<Pick<Service, 'run'>> = {},
  change: (app: App) => App = (app) => app,
): Promise<TestApp> {
  const app = await loadApp(appFolder, { env: {} })
  const services = app.services.map((service) => ({ ...service, ...placement }))
  return await TestApp.startLoaded(behindEntrance(change({ ...app, services, gateway: { ...app.gateway, port: 0 } })))
}

/** `127.0.0.1:3000`, for the clients of gRPC. */
export function addressOf(app: TestApp): string {
  return new URL(app.url).host
}
