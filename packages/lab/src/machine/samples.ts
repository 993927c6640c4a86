/** What `sampler.ts` wrote from inside the programs of an arm, put on the timeline of a slice. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The first line of a thread's file. */
export interface ThreadHeader {
  readonly pid: number
  /** 0 for a program's main thread. */
  readonly thread: number
  readonly version: string
  /** Node's own: from the command line and from `NODE_OPTIONS`. */
  readonly flags: readonly string[]
}

/** Times are milliseconds, moments since 1970; sizes bytes. */
export interface Sample {
  readonly from: number
  readonly to: number
  /** The share of it in which the event loop did not wait. */
  readonly utilisation: number
  readonly delayP50: number
  readonly delayP99: number
  readonly delayMax: number
  /** Spent collecting garbage. */
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

/** What the runtimes of an arm did within a slice. Sizes are sums over all threads. */
export interface RuntimeUse {
  readonly threads: number
  /** Threads whose loop was busy for more than a twentieth of the time. */
  readonly busyThreads: number
  /** Of the busiest thread. */
  readonly utilisation: number
  /** Of the thread that was latest, milliseconds; the time that a timer came late. */
  readonly delayP99: number
  /** Collecting garbage, as a share of one core. */
  readonly gc: number
  /** Cores that these threads kept busy; what the runtime's own helpers take is not in it. */
  readonly cpu: number
  readonly heapTotal: number
  readonly heapUsed: number
  readonly newSpace: number
  readonly oldSpace: number
  readonly timeline: readonly RuntimeMoment[]
}

export interface RuntimeMoment {
  /** Seconds from the slice's start. */
  readonly at: number
  readonly utilisation: number
  readonly delayMax: number
  readonly gc: number
  readonly heapUsed: number
  /** Cores. */
  readonly cpu: number
}

/** A thread that does less is not one that serves. */
const busy = 0.05

/** The environment that makes every Node program of an arm write its samples to `folder`. */
export function samplingInto(folder: string): { NODE_OPTIONS: string; BUSBAR_LAB_SAMPLES: string } {
  return { NODE_OPTIONS: preload, BUSBAR_LAB_SAMPLES: folder }
}

const preload = preloadOf(
  fileURLToPath(new URL(`./sampler${extname(fileURLToPath(import.meta.url))}`, import.meta.url)),
)

function preloadOf(file: string): string {
  return `--require="${file.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** Node's flags without the lab's own. */
export function ownFlags({ flags }: ThreadHeader): string[] {
  return flags.map((flag) => flag.replace(preload, '').trim()).filter(Boolean)
}

export async function readSamples(folder: string): Promise<ThreadSamples[]> {
  const names = await readdir(folder).catch(() => [])
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap((text) => {
    // The last line may be half written yet.
    const [header, ...samples] = text.split('\n').slice(0, -1)
    if (header === undefined) return []
    return [{ ...(JSON.parse(header) as ThreadHeader), samples: samples.map((sample) => JSON.parse(sample) as Sample) }]
  })
}

/**
 * What happened from one moment to the other. A sample that began before is left out: it may have seen the time for which
 * the program was stopped. Undefined where no program of the arm wrote any.
 */
export function useWithin(threads: readonly ThreadSamples[], from: number, to: number): RuntimeUse | undefined {
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

/** A sample that ends with the slice is written a moment after it. */
const tolerance = 50

/**
 * Moments of a quarter of a second. What flows (GC, CPU) is that of the samples which ended in it; what stands (heap,
 * utilisation) is each thread's at the nearest sample, else a thread that was a moment late would seem to have none.
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
