/** Apps in the background, with folders of their own for what Busbar keeps. */
import assert from 'node:assert/strict'
import { BusbarProcess, type Ended } from './busbar-process.ts'
import { TestFolder } from './test-folder.ts'

const program = `
const { NAME = '' } = process.env
console.log('started ' + NAME)
require('node:http').createServer((request, response) => response.end('ok ' + process.pid)).listen(3000)`

export const shop = { gateway: { port: 0, routes: { '/web': 'web' } }, services: { web: './web' } }

const files = {
  'shop/package.json': { name: 'shop' },
  'shop/busbar.config.json': shop,
  'shop/web/index.js': program,
  'other/package.json': { name: 'other' },
  'other/index.js': program,
  'throws/package.json': { name: 'throws' },
  'throws/index.js': `throw new Error('thrown on purpose')`,
  'killed/package.json': { name: 'killed' },
  'killed/index.js': `require('node:child_process').execFileSync('kill', ['-9', String(process.pid)])`,
  'wrong/busbar.config.json': { servces: {} },
}

export interface Started {
  readonly pid: number
  readonly addresses: readonly { readonly url: string }[]
  readonly entrance: string
  readonly logs: string
}

/** Folders of apps, and of what Busbar keeps for them. Stops what runs at the end of its scope. */
export class Background implements AsyncDisposable {
  readonly folder = new TestFolder(files)
  readonly env = {
    XDG_RUNTIME_DIR: this.folder.at('run'),
    XDG_STATE_HOME: this.folder.at('state'),
    XDG_CONFIG_HOME: this.folder.at('config'),
  }

  run(args: readonly string[], cwd = this.folder.path): Promise<Ended> {
    return BusbarProcess.run(args, { env: this.env, cwd })
  }

  async start(...args: string[]): Promise<Started> {
    const { code, stdout, stderr } = await this.run(['start', '-d', '--json', ...args])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Started
  }

  async running(): Promise<string[]> {
    const { stdout } = await this.run(['ps', '--json'])
    return (JSON.parse(stdout) as { runs: { app: { name: string } }[] }).runs.map(({ app }) => app.name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(['stop', '--all'])
    this.folder[Symbol.dispose]()
  }
}
