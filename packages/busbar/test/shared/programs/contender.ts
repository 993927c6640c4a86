/**
 * Takes locks, counts and asks for values in ways and at times that its seed says, until it is told to stop or is killed.
 * Whoever is inside of a lock says so in a cell; who finds somebody there must have been told that the lock was abandoned.
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
  timeout: (mutex) => mutex.lock({ timeout: next(3) }).catch(late),
  syncTimeout: (mutex) => unlessHere(() => mutex.lockSync({ timeout: next(3) })),
  signal: (mutex) => mutex.lock({ signal: AbortSignal.timeout(next(3)) }).catch(late),
}

// Several flows in one thread, so that its own line is used too; blocking ways in one only, which holds nothing meanwhile.
const flows = [Object.keys(ways), ['lock', 'timeout', 'signal', 'try'], ['lock', 'try']]
parentPort.postMessage('begun')
const isAlone = next(2) === 0
await Promise.all((isAlone ? flows.slice(0, 1) : flows.slice(1)).map(flow))
parentPort.postMessage('done')

async function flow(names) {
  while (stop.load() === 0) {
    const name = `lock ${next(locks)}`
    const held = await ways[names[next(names.length)]](shared.mutex(name))
    if (held !== undefined) await visit(name, held)
    if (next(4) === 0) await new Promise(setImmediate)
    count()
    if (next(20) === 0) await ask(values + next(3))
  }
}

/** A kill may come between the two, but not between a total and itself. */
function count() {
  for (let at = next(200); at > 0; at--) {
    shared.counter('steps').add(step)
    shared.atomic('steps').add(1)
  }
}

/** All must get what the first one got. */
async function ask(number) {
  const value = await shared.once(`value ${number}`, () => new Promise((resolve) => setImmediate(resolve, me)))
  const first = shared.atomic(`value ${number}`).compareExchange(0, value)
  if (first !== 0 && first !== value) shared.counter('violations').add()
}

async function visit(name, held) {
  const inside = shared.atomic(name)
  const found = inside.compareExchange(0, me)
  if (found !== 0) {
    if (!held.abandoned) shared.counter('violations').add()
    inside.store(me)
    shared.counter('told').add()
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

function late(error) {
  if (error.code !== 'DEADLINE_EXCEEDED' && error.code !== 'CALL_ABORTED') throw error
}

function unlessHere(take) {
  try {
    return take()
  } catch (error) {
    late(error)
  }
}
