import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TriedArm } from '../../src/try-app/tried-app.ts'
import { busbarBin } from '../../src/user-app/app-plan.ts'

export interface Report {
  readonly same: boolean
  readonly arms: readonly TriedArm[]
  readonly calls: readonly { from: string; to: string; where: string; variable?: { name: string; value: string } }[]
  readonly text: string
  readonly notes: readonly string[]
}

/** A folder of somebody who does not use Busbar yet. */
export class Repository implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'busbar-try-')))

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true })
      writeFileSync(join(this.path, name), content)
    }
  }

  start(...args: string[]) {
    const child = spawn(process.execPath, [busbarBin, 'try', this.path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    return { child, output: Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]) }
  }

  async try(...args: string[]): Promise<{ code: number; report: Report; stdout: string; stderr: string }> {
    const [stdout, stderr, [code]] = await this.start('--budget', '0', ...args).output
    assert.ok(stdout.length > 0, stderr)
    const report = args.includes('--json') ? (JSON.parse(stdout) as Report) : ({} as Report)
    return { code: code as number, report, stdout, stderr }
  }

  files(): string[] {
    return readdirSync(this.path, { recursive: true }).map(String).toSorted()
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A program that answers with the JSON of `answer`, an expression. */
export function server(port: number | string, answer: string): string {
  return `require('node:http').createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(${answer}))
  }).listen(${port})`
}
