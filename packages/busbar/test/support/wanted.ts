import {
  type AcceleratorName,
  acceleratorsVariable,
  defaultAccelerators,
  parseAccelerators,
} from '../../src/shared/accelerators.ts'

/** With which accelerators the tests run. */
export const wanted = parseAccelerators(process.env[acceleratorsVariable] ?? 'all') ?? defaultAccelerators

export function isWanted(name: AcceleratorName): boolean {
  return wanted.includes(name)
}
