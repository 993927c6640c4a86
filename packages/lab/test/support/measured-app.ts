/** What tests of the lab with an app of the user need. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { OwnRequests } from '../../src/user-app/own-requests.ts'

/** Of runs that nobody aborts. */
export const { signal } = new AbortController()

/** The requests of a run with `--path`. */
export const get = (path: string): OwnRequests => ({ requests: [{ path }], weights: [1], isPlain: true })

/** A server that answers at `/checkout` with the value of an expression. */
export const program = (answer: string): string =>
  `require('node:http').createServer((request, response) => {
    if (request.url !== '/checkout') response.statusCode = 404
    response.end(${answer})
  }).listen(process.env.PORT)`

/** A temporary folder with these files. */
export class AppFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'busbar-lab-test-'))

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true })
      writeFileSync(join(this.path, name), content)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
