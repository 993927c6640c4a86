import type { AcceleratorName } from '../../../src/shared/accelerators.ts'
import { startAccelerators } from '../../../src/worker/accelerators.ts'
import { wanted } from './wanted-accelerators.ts'

/** The accelerators of this thread, as a worker has them. */
export const { states, attachments } = await startAccelerators(wanted)

export const { exchange: exchanges, handover, stream: streams } = attachments

export function isOn(name: AcceleratorName): boolean {
  return states.some((state) => state.name === name && state.on)
}

/** Why a test that needs these accelerators is skipped. False if they are on. */
export function unless(...names: readonly AcceleratorName[]): string | false {
  const off = names.filter((name) => !isOn(name))
  return off.length > 0 && `without ${off.join(' and ')}`
}
