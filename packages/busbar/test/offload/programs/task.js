import { threadId, workerData } from 'node:worker_threads'

/** How often this thread has loaded the module. */
globalThis.loaded = (globalThis.loaded ?? 0) + 1

const tasks = {
  echo: ({ value }) => value,
  thread: () => threadId,
  data: () => workerData,
  loaded: () => globalThis.loaded,
  throws: ({ kind }) => {
    throw thrown[kind]()
  },
  exits: () => process.exit(3),
  strays: () =>
    new Promise(
      () =>
        void setImmediate(() => {
          throw new Error('went astray')
        }),
    ),
  uncloneable: () => () => {},
  large: ({ bytes }, { transfer }) => {
    const { buffer } = new Uint8Array(bytes).fill(7)
    return transfer(buffer, [buffer])
  },
  pooled: () => Buffer.from('eleven byte'),
  bytesBehind: ({ value }) => value.buffer.byteLength,
  /** Returns when told to stop, through the event loop. */
  awaits: (_, { signal }) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve('stopped')
      else signal.addEventListener('abort', () => resolve('stopped'))
    }),
  /** The same without ever yielding to the event loop. */
  computes: (_, { signal }) => {
    while (!signal.aborted);
    return `stopped: ${signal.reason.code}`
  },
  checks: (_, { signal }) => {
    for (;;) signal.throwIfAborted()
  },
  fails: (_, { signal }) => {
    while (!signal.aborted);
    throw new RangeError('half-way')
  },
  /** The cell shows that it has started. */
  runaway: ({ cells }) => {
    Atomics.notify(cells, 0)
    for (;;);
  },
  /** Runs until the first cell is set; another one shows that it has started. */
  holds: ({ cells }) => {
    Atomics.store(cells, 1, 1)
    Atomics.notify(cells, 1)
    Atomics.wait(cells, 0, 0)
    return 'held'
  },
  log: ({ cells, value }) => {
    cells[1 + Atomics.add(cells, 0, 1)] = value
  },
}

const thrown = {
  type: () => new TypeError('no such thing', { cause: new Error('deeper') }),
  code: () => Object.assign(new Error('gone'), { code: 'ENOENT', name: 'OwnError' }),
  text: () => 'just a text',
  busbar: () =>
    Object.assign(new Error('busy'), {
      name: 'BusbarError',
      code: 'RESOURCE_EXHAUSTED',
      hint: 'later',
      data: { retryAfter: 3 },
    }),
}

export default (input, context) => tasks[input.do](input, context)
