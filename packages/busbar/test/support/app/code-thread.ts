import { Worker } from 'node:worker_threads'

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: object
}

/** A thread that runs given code, see `programs/thread.ts`. Terminated at the end of its scope. */
export class CodeThread implements AsyncDisposable {
  readonly worker: Worker
  #asked = 0

  constructor(program = new URL('../../state/programs/thread.ts', import.meta.url)) {
    this.worker = new Worker(program).setMaxListeners(0)
  }

  /** Returns the result of the code. Rejects with the fields of its error. */
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
