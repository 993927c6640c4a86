import type { App, Service } from '../config/app.ts'
import type { ListenerSpec } from '../shared/control.ts'

/** What starting the app would do: pure data, printed by `busbar check` and carried out by `startApp`. */
export interface Plan {
  readonly workers: number
  readonly accept: App['accept']
  readonly listeners: readonly ListenerSpec[]
  /** Services of one wave start side by side, after all of the waves before; they stop in reverse. */
  readonly waves: readonly (readonly string[])[]
  /** The folder the process works in: that of the one program, or undefined where it stays as it is. */
  readonly folder: string | undefined
}

export function planApp(app: App): Plan {
  return {
    workers: app.workers,
    accept: app.accept,
    listeners: listenersOf(app),
    waves: wavesOf(app.services),
    folder: app.services.length === 1 ? app.services[0]!.path : undefined,
  }
}

/** Whether running workers can be replaced by those of `next` while the listeners stay as they are. */
export function canRestartInto(running: App, next: App): boolean {
  const fixed = (app: App): string => JSON.stringify([planApp(app), app.root, app.gateway.tls])
  return fixed(running) === fixed(next)
}

function listenersOf(app: App): ListenerSpec[] {
  const { host, port } = app.gateway
  const exposed = app.services.flatMap(({ name, expose }): ListenerSpec[] =>
    expose.map((address, index) => ({
      id: index === 0 ? `expose:${name}` : `expose:${name}:${index + 1}`,
      ...address,
      serves: { kind: 'service', service: name },
    })),
  )
  return [{ id: 'gateway', host, port, serves: { kind: 'gateway' } }, ...exposed]
}

/** `services` come in an order where each stands behind those it needs, so one pass is enough. */
function wavesOf(services: readonly Service[]): string[][] {
  const depths = new Map<string, number>()
  const waves: string[][] = []
  for (const { name, needs } of services) {
    const depth = needs.length === 0 ? 0 : 1 + Math.max(...needs.map((need) => depths.get(need) ?? -1))
    depths.set(name, depth)
    ;(waves[depth] ??= []).push(name)
  }
  return waves
}
