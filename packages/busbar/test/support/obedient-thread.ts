import { Worker } from 'node:worker_threads'

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: object
}

/** A thread that runs the code it is told, see `programs/thread.ts`; ended with its scope. */
export class ObedientThread implements AsyncDisposable {
  readonly worker: Worker
  #asked = 0

  constructor(program = new URL('../state/programs/thread.ts', import.meta.url)) {
    this.worker = new Worker(program).setMaxListeners(0)
  }

  /** What the code returns; rejects with the fields of what it throws. */
  async run(code: string): Promise<unknown> {
    const id = this.#asked++
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.worker.on('message', (answer: Answer) => {
      if (answer.id !== id) return
      if (answer.error === undefined) resolve(answer.value)
      else reject(Object.assign(new Error(), answer.error))
    })
    this.worker.postMessage({ id, code })
    return await promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker.terminate()
  }
}
