import { type AcceleratorName, isChosen } from '../../src/shared/accelerators.ts'

/** Why a test of what only an accelerator does is passed over; false where those named are on. */
export function unless(...names: readonly AcceleratorName[]): string | false {
  const off = names.filter((name) => !isChosen(name))
  return off.length > 0 && `without ${off.join(' and ')}`
}
