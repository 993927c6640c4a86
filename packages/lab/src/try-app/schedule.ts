import type { Arm } from '../arm.ts'
import { withoutFixedPorts } from './busbar-arms.ts'
import { rehearse, type Rehearsal } from './rehearse.ts'
import type { BesideToday } from './tried-app.ts'

/**
 * - `in turns`: all are alive, and latency is measured at a fixed rate, too
 * - `beside today`: all are alive, those under Busbar without the fixed ports
 * - `one at a time`: each in a start of its own
 */
export type Order = 'in turns' | 'beside today' | 'one at a time'

export interface Schedule {
  readonly arms: readonly Arm[]
  readonly order: Order
  /** Name of the arm that runs twice, for the noise. */
  readonly control: string
  /** Sentences that a reader must know. */
  readonly notes: readonly string[]
}

export interface ScheduleOptions extends Omit<Rehearsal, 'arms' | 'ports'> {
  /** The first is the baseline. */
  readonly arms: readonly [Arm, ...Arm[]]
  readonly beside: BesideToday
  readonly path: string
}

/**
 * Two arms with the same ports cannot be alive at once. But Busbar needs none of them if all calls
 * between the services go through the mesh: then it leaves them to today's services.
 */
export async function scheduleArms({ arms, beside, path, ...rest }: ScheduleOptions): Promise<Schedule> {
  const [baseline, ...others] = arms
  if (arms.every((arm) => fixedPortsOf(arm).length === 0))
    return { arms, order: 'in turns', control: baseline.name, notes: [] }
  const oneAtATime = (why: string): Schedule => ({
    arms,
    order: 'one at a time',
    control: baseline.name,
    notes: [`Measured one at a time, which needs a quieter machine: ${why}.`],
  })
  if (!beside.possible) return oneAtATime(beside.why)
  const isToday = baseline.name === 'today'
  const [first] = isToday ? others : arms
  if (first === undefined) return oneAtATime('no other arm runs')
  const move = (arm: Arm): Arm => withoutFixedPorts(arm, beside.location, path)
  const moved = (isToday ? others : arms).map(move)
  const ports = isToday ? fixedPortsOf(baseline) : arms.flatMap(fixedPortsOf)
  const why = await rehearse({ ...rest, arms: [...moved, move(first)], ports: [...new Set(ports)] })
  if (why !== undefined) return oneAtATime(why)
  return {
    arms: isToday ? [baseline, ...moved] : moved,
    order: 'beside today',
    control: first.name,
    notes: [noteOn(first, isToday)],
  }
}

function fixedPortsOf({ fixedPorts = [] }: Arm): readonly number[] {
  return fixedPorts
}

function noteOn({ title }: Arm, isToday: boolean): string {
  const without = 'Busbar without the fixed ports that the config opens'
  if (!isToday) return `All ran side by side, ${without}.`
  return `All ran side by side: today once, since it holds its ports, and ${without}. The noise is that between two copies of “${title}”.`
}
