/** Two apps in this process, on loopback: `far` exports its services, and `near` calls them. */
import { fileURLToPath } from 'node:url'
import type { ClusterConfig, ExportConfig } from '../../../src/shared/hosts.ts'
import { type AppSetup, TestApp } from '../../support/app/test-app.ts'

export function program(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}`, import.meta.url))
}

export interface TwoAppsSetup {
  readonly near?: Partial<AppSetup>
  readonly far?: Partial<AppSetup>
  readonly export?: Partial<ExportConfig>
  /** Instead of an export. */
  readonly cluster?: ClusterConfig
}

export class TwoApps implements AsyncDisposable {
  readonly near: TestApp
  readonly far: TestApp

  private constructor(near: TestApp, far: TestApp) {
    this.near = near
    this.far = far
  }

  static async start(setup: TwoAppsSetup = {}): Promise<TwoApps> {
    const { near, far, export: exported, cluster } = setup
    if (cluster !== undefined) return await TwoApps.#inCluster(setup, cluster)
    const farApp = await startFar(far, exported)
    try {
      const address = { protocol: exported?.protocol ?? 'tcp', host: '127.0.0.1', port: exportPortOf(farApp) } as const
      const remotes = farServices(far).map((name) => ({ name, addresses: [address] }))
      const nearApp = await TestApp.start({ name: 'near', services: { web: program('web.js') }, remotes, ...near })
      return new TwoApps(nearApp, farApp)
    } catch (error) {
      await farApp[Symbol.asyncDispose]()
      throw error
    }
  }

  static async #inCluster({ near, far }: TwoAppsSetup, cluster: ClusterConfig): Promise<TwoApps> {
    const services = far?.services ?? { stock: program('stock.js') }
    const names = Object.keys(services)
    const farApp = await TestApp.start({ name: 'far', ...far, services, cluster: { ...cluster, services: names } })
    try {
      const remotes = names.map((name) => ({ name, addresses: [], inCluster: true }))
      const nearSetup = { name: 'near', services: { web: program('web.js') }, remotes, cluster, ...near }
      return new TwoApps(await TestApp.start(nearSetup), farApp)
    } catch (error) {
      await farApp[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The answer of the program `web`, which calls `stock` in one of its ways. */
  async ask(path: string, init?: RequestInit): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.near.url}/${path}`, init)
    return (await response.json()) as Record<string, unknown>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.near[Symbol.asyncDispose]()
    await this.far[Symbol.asyncDispose]()
  }
}

export async function startFar(setup: Partial<AppSetup> = {}, exported: Partial<ExportConfig> = {}): Promise<TestApp> {
  const services = setup.services ?? { stock: program('stock.js') }
  const config = { protocol: 'tcp', host: '127.0.0.1', port: 0, services: farServices(setup), ...exported } as const
  return await TestApp.start({ name: 'far', ...setup, services, export: config })
}

/** Where an app accepts the links of others. */
export function exportPortOf({ running }: TestApp): number {
  return running.addresses.find(({ serves }) => serves.kind === 'export')!.port
}

function farServices({ services = { stock: '' } }: Partial<AppSetup> = {}): string[] {
  return Object.keys(services)
}
