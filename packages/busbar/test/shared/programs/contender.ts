/**
 * Takes locks, counts, and requests values in a random order given by its seed, until it is told to
 * stop or is killed. The holder of a lock writes that to a cell; a thread that finds the cell
 * occupied must have got the lock as abandoned.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { shared } from '../../../src/state/shared.ts'
import { random } from '../random.ts'

const { seed, locks, step, values } = workerData
const next = random(seed)
const stop = shared.atomic('stop')
const me = seed + 1

const ways = {
  lock: (mutex) => mutex.lock(),
  sync: (mutex) => mutex.lockSync(),
  try: (mutex) => mutex.tryLock(),
  timeout: (mutex) => mutex.lock({ timeout: next(3) }).catch(ignoreTimeout),
  syncTimeout: (mutex) => ifInTime(() => mutex.lockSync({ timeout: next(3) })),
  signal: (mutex) => mutex.lock({ signal: AbortSignal.timeout(next(3)) }).catch(ignoreTimeout),
}

// Several flows per thread, so that its own queue is used too. Only one uses blocking calls, and
// holds nothing meanwhile.
const flows = [Object.keys(ways), ['lock', 'timeout', 'signal', 'try'], ['lock', 'try']]
parentPort.postMessage('begun')
const isAlone = next(2) === 0
await Promise.all((isAlone ? flows.slice(0, 1) : flows.slice(1)).map(flow))
parentPort.postMessage('done')

async function flow(names) {
  while (stop.load() === 0) {
    const name = `lock ${next(locks)}`
    const held = await ways[names[next(names.length)]](shared.mutex(name))
    if (held !== undefined) await holdLock(name, held)
    if (next(4) === 0) await new Promise(setImmediate)
    count()
    if (next(20) === 0) await checkOnce(values + next(3))
  }
}

/** A kill may come between the two counts, but not between a total and itself. */
function count() {
  for (let at = next(200); at > 0; at--) {
    shared.counter('steps').add(step)
    shared.atomic('steps').add(1)
  }
}

/** All must get the first one's value. */
async function checkOnce(number) {
  const value = await shared.once(`value ${number}`, () => new Promise((resolve) => setImmediate(resolve, me)))
  const first = shared.atomic(`value ${number}`).compareExchange(0, value)
  if (first !== 0 && first !== value) shared.counter('violations').add()
}

async function holdLock(name, held) {
  const inside = shared.atomic(name)
  const found = inside.compareExchange(0, me)
  if (found !== 0) {
    if (!held.abandoned) shared.counter('violations').add()
    inside.store(me)
    shared.counter('abandoned').add()
  }
  const total = shared.atomic(`total of ${name}`)
  const before = total.load()
  if (next(3) === 0) for (let at = next(20_000); at > 0; at--) total.load()
  if (!isAlone && next(2) === 0) await new Promise(setImmediate)
  total.store(before + 1)
  if (inside.compareExchange(me, 0) !== me) shared.counter('violations').add()
  shared.counter('visits').add()
  held.release()
}

function ignoreTimeout(error) {
  if (error.code !== 'DEADLINE_EXCEEDED' && error.code !== 'CALL_ABORTED') throw error
}

function ifInTime(take) {
  try {
    return take()
  } catch (error) {
    ignoreTimeout(error)
  }
}
