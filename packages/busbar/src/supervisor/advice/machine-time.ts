import { cpus } from 'node:os'

/** Milliseconds of processor time of all processes of this machine. */
export function machineTime(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}
