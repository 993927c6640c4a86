import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** Properties of the machine on which a result depends. No names, no addresses. */
export interface Machine {
  readonly platform: string
  readonly kernel: string
  readonly cpu: string
  readonly cores: number
  readonly memory: number
  readonly node: string
  readonly governor: string | null
  readonly virtualised: boolean | null
}

export async function describeMachine(): Promise<Machine> {
  const [governor, cpuinfo] = await Promise.all([
    readFile('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor', 'utf8').catch(() => null),
    readFile('/proc/cpuinfo', 'utf8').catch(() => null),
  ])
  return {
    platform: `${process.platform} ${process.arch}`,
    kernel: release(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: totalmem(),
    node: process.version,
    governor: governor?.trim() ?? null,
    virtualised: cpuinfo === null ? null : /^flags.*\bhypervisor\b/m.test(cpuinfo),
  }
}
