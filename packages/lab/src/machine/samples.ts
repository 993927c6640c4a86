/** Reads what `sampler.ts` wrote inside the programs of an arm, and summarises it per slice. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The first line of a thread's file. */
export interface ThreadHeader {
  readonly pid: number
  /** 0 for the main thread. */
  readonly thread: number
  readonly version: string
  /** Node's flags from the command line and `NODE_OPTIONS`. */
  readonly flags: readonly string[]
}

/** Durations are milliseconds, times milliseconds since 1970, sizes bytes. */
export interface Sample {
  readonly from: number
  readonly to: number
  /** Share of the time in which the event loop was busy. */
  readonly utilisation: number
  readonly delayP50: number
  readonly delayP99: number
  readonly delayMax: number
  /** Garbage collection. */
  readonly gc: number
  readonly cpu: number
  readonly heapTotal: number
  readonly heapUsed: number
  readonly newSpace: number
  readonly oldSpace: number
  readonly external: number
}

export interface ThreadSamples extends ThreadHeader {
  readonly samples: readonly Sample[]
}

/** Samples of an arm within a slice. Sizes are sums over all threads. */
export interface RuntimeUsage {
  readonly threads: number
  /** Threads with a utilisation above 5 %. */
  readonly busyThreads: number
  /** Of the busiest thread. */
  readonly utilisation: number
  /** Delay of timers in milliseconds, of the slowest thread. */
  readonly delayP99: number
  /** Garbage collection as a share of one core. */
  readonly gc: number
  /** Cores kept busy by these threads, without the runtime's helper threads. */
  readonly cpu: number
  readonly heapTotal: number
  readonly heapUsed: number
  readonly newSpace: number
  readonly oldSpace: number
  readonly timeline: readonly RuntimeMoment[]
}

export interface RuntimeMoment {
  /** Seconds since the start of the slice. */
  readonly at: number
  readonly utilisation: number
  readonly delayMax: number
  readonly gc: number
  readonly heapUsed: number
  /** Cores. */
  readonly cpu: number
}

/** Utilisation from which a thread counts as busy. */
export const busy = 0.05

/** Environment that makes every Node program of an arm write samples to `folder`. */
export function samplingInto(folder: string): { NODE_OPTIONS: string; BUSBAR_LAB_SAMPLES: string } {
  return { NODE_OPTIONS: preload, BUSBAR_LAB_SAMPLES: folder }
}

const preload = preloadOf(
  fileURLToPath(new URL(`./sampler${extname(fileURLToPath(import.meta.url))}`, import.meta.url)),
)

function preloadOf(file: string): string {
  return `--require="${file.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/**
 * Node's flags without the lab's own, and without those that say where a debugger would listen: a
 * worker process of Busbar has them, and no debugger runs before it is asked for.
 */
export function userFlags({ flags }: ThreadHeader): string[] {
  return flags
    .map((flag) => flag.replace(preload, '').trim())
    .filter((flag) => flag !== '' && !/^--inspect-(port|publish-uid)=/.test(flag))
}

export async function readSamples(folder: string): Promise<ThreadSamples[]> {
  const names = await readdir(folder).catch(() => [])
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap((text) => {
    // The last line may be incomplete.
    const [header, ...samples] = text.split('\n').slice(0, -1)
    if (header === undefined) return []
    return [{ ...(JSON.parse(header) as ThreadHeader), samples: samples.map((sample) => JSON.parse(sample) as Sample) }]
  })
}

/**
 * CPU seconds of each thread between two times. Unlike their utilisation, they are right also for a
 * program that was frozen in between.
 */
export function threadSeconds(threads: readonly ThreadSamples[], from: number, to: number): number[] {
  return threads
    .map(({ samples }) => samples.filter((sample) => sample.from >= from && sample.to <= to + tolerance))
    .map((samples) => samples.reduce((sum, { cpu }) => sum + cpu, 0) / 1000)
}

/**
 * Summarises the samples between two times. A sample that began earlier is left out, since it may
 * include time for which the program was frozen. Undefined without samples.
 */
export function summariseSamples(
  threads: readonly ThreadSamples[],
  from: number,
  to: number,
): RuntimeUsage | undefined {
  const within = threads
    .map(({ samples }) => samples.filter((sample) => sample.from >= from && sample.to <= to + tolerance))
    .filter((samples) => samples.length > 0)
  if (within.length === 0) return undefined
  const utilisations = within.map((samples) => mean(samples.map((sample) => sample.utilisation)))
  const total = (pick: (sample: Sample) => number) => within.reduce((sum, samples) => sum + mean(samples.map(pick)), 0)
  return {
    threads: within.length,
    busyThreads: utilisations.filter((utilisation) => utilisation > busy).length,
    utilisation: Math.max(...utilisations),
    delayP99: Math.max(...within.flat().map((sample) => sample.delayP99)),
    gc: total((sample) => sample.gc / (sample.to - sample.from)),
    cpu: total((sample) => sample.cpu / (sample.to - sample.from)),
    heapTotal: total((sample) => sample.heapTotal),
    heapUsed: total((sample) => sample.heapUsed),
    newSpace: total((sample) => sample.newSpace),
    oldSpace: total((sample) => sample.oldSpace),
    timeline: timelineOf(within, from),
  }
}

/** Milliseconds: the last sample of a slice is written shortly after its end. */
const tolerance = 50

/**
 * Values per quarter of a second. GC and CPU are sums over the samples that ended in it. Heap and
 * utilisation come from each thread's nearest sample, so that a late sample does not leave a gap.
 */
function timelineOf(threads: readonly (readonly Sample[])[], from: number): RuntimeMoment[] {
  const slots = Map.groupBy(threads.flat(), (sample) => Math.floor((sample.to - from) / 250))
  return [...slots]
    .toSorted(([one], [other]) => one - other)
    .map(([slot, samples]) => ({
      at: (slot + 1) / 4,
      utilisation: Math.max(...threads.map((each) => nearest(each, from + (slot + 1) * 250).utilisation)),
      delayMax: Math.max(...samples.map((sample) => sample.delayMax)),
      gc: samples.reduce((sum, sample) => sum + sample.gc, 0),
      heapUsed: threads.reduce((sum, each) => sum + nearest(each, from + (slot + 1) * 250).heapUsed, 0),
      cpu: samples.reduce((sum, sample) => sum + sample.cpu / (sample.to - sample.from), 0),
    }))
}

function nearest(samples: readonly Sample[], moment: number): Sample {
  return samples.reduce((best, sample) => (Math.abs(sample.to - moment) < Math.abs(best.to - moment) ? sample : best))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
