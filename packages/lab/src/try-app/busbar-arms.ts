import { type Arm, type Launch, type LaunchContext, usualStopTime } from '../arm.ts'
import { busbarBin, readAppPlan, type Run } from '../user-app/app-plan.ts'
import { shapeOf } from '../user-app/placements.ts'
import { ownEnvironment } from './today-arm.ts'
import type { TriedApp } from './tried-app.ts'

const titles: Readonly<Record<Run, string>> = {
  process: 'Busbar, a process each',
  thread: 'Busbar, a thread each',
  shared: 'Busbar, all in one thread',
}

/** The app under Busbar in each placement that differs from the others. */
export async function busbarArms(app: TriedApp, path: string): Promise<{ arms: Arm[]; notes: string[] }> {
  const arms: Arm[] = []
  const notes: string[] = []
  const shapes = new Map<string, Run>()
  for (const run of ['process', 'thread', 'shared'] as const) {
    const plan = await readAppPlan(app.folder, run)
    const shape = shapeOf(plan)
    const same = shapes.get(shape)
    if (same !== undefined) {
      notes.push(`${titles[run]}: left out, since no service can run differently there than with ${same}.`)
      continue
    }
    shapes.set(shape, run)
    arms.push(busbarArm(app, run, path))
    const staying = plan.services.filter((service) => service.run !== run)
    if (staying.length > 0)
      notes.push(`${titles[run]}: but for ${staying.map((one) => `${one.name} (${one.run})`).join(', ')}.`)
  }
  return { arms, notes }
}

/** The same arm without fixed ports. `location`: a config that opens no port but the gateway's. */
export function withoutFixedPorts(arm: Arm, location: string, path: string): Arm {
  return {
    ...arm,
    fixedPorts: [],
    launch: (context) => launchOf(context, { location, run: arm.name as Run, path, exposed: [] }),
  }
}

function busbarArm({ folder, today, entry, exposed }: TriedApp, run: Run, path: string): Arm {
  // A command that listens at a port of its own leaves another one to the gateway.
  const gateway = exposed[entry] === undefined ? today.find(({ name }) => name === entry)?.port : undefined
  const config = { location: folder, run, path, gateway, exposed: Object.values(exposed) }
  return {
    name: run,
    title: titles[run],
    single: true,
    unsampled: true,
    stopTime: usualStopTime,
    fixedPorts: [...config.exposed, ...(gateway === undefined ? [] : [gateway])],
    translate: (request) => request,
    launch: (context) => launchOf(context, config),
  }
}

interface Started {
  /** The config, or its folder. */
  readonly location: string
  readonly run: Run
  readonly path: string
  /** Undefined: any port. */
  readonly gateway?: number | undefined
  /** Further ports that it opens. */
  readonly exposed: readonly number[]
}

function launchOf(context: LaunchContext, { location, run, path, gateway, exposed }: Started): Launch {
  const port = gateway ?? context.port
  const flags = `--host 127.0.0.1 --port ${port} --log-level error --run ${run}`.split(' ')
  return {
    command: [process.execPath, busbarBin, 'start', location, '--once', ...flags],
    env: ownEnvironment(context),
    target: { address: `127.0.0.1:${port}`, path },
    ready: { status: 'any', ports: exposed },
  }
}
