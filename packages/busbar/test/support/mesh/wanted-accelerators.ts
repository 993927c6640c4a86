import {
  type AcceleratorName,
  acceleratorsVariable,
  defaultAccelerators,
  parseAccelerators,
} from '../../../src/shared/accelerators.ts'

/** The accelerators that the tests run with. */
export const wanted = parseAccelerators(process.env[acceleratorsVariable] ?? 'all') ?? defaultAccelerators

export function isWanted(name: AcceleratorName): boolean {
  return wanted.includes(name)
}
