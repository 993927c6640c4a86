/**
 * Follows the README line by line: writes its files, runs its commands and compares answers. Local
 * only.
 */
import assert from 'node:assert/strict'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { type Block, blocksOf, root } from '../support/documents.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const packages = createRequire(import.meta.url)
const readme = await readFile(join(root, 'README.md'), 'utf8')

test('every fenced block of the README is a file or a console', () => {
  for (const { language, file } of blocksOf(readme)) assert.ok(file !== undefined || language === 'console', language)
})

test('every command of the README has the shown result', async () => {
  await using reader = await Reader.open()
  for (const block of blocksOf(readme))
    if (block.file === undefined) await reader.follow(block)
    else reader.folder.write(block.file, block.text)
  assert.deepEqual(reader.done, ['npm start', 'curl', 'check', 'start', 'curl', 'start', 'curl', 'start', 'curl', 'ps'])
})

/** Follows the README in a temporary folder. Each `start` ends the previous one. */
class Reader implements AsyncDisposable {
  readonly folder = new TestFolder()
  readonly done: string[] = []
  #running: BusbarProcess | undefined

  static async open(): Promise<Reader> {
    const reader = new Reader()
    await mkdir(reader.folder.at('node_modules'))
    await symlink(join(root, 'packages/busbar'), reader.folder.at('node_modules/busbar'))
    await symlink(dirname(packages.resolve('fastify/package.json')), reader.folder.at('node_modules/fastify'))
    return reader
  }

  async follow({ text }: Block): Promise<void> {
    for (const shown of text.split(/^\$ /m).slice(1)) {
      const [line = '', ...expected] = shown.split('\n')
      const [command, ...args] = line.split(' ')
      if (command === 'curl') await this.#ask(args, expected.join('\n'))
      else if (line === 'npm start') await this.#start(await exampleWithoutPorts(this.folder))
      else if (line.startsWith('npx busbar ')) await this.#busbar(args.slice(1))
      else assert.fail(`no test runs this: ${line}`)
      this.done.push(command === 'npx' ? args[1]! : command === 'npm' ? line : command!)
    }
  }

  async #busbar(args: readonly string[]): Promise<void> {
    if (args[0] === 'start') return this.#start(args)
    const { code, stderr } = await BusbarProcess.run(args, { cwd: this.folder.path })
    assert.deepEqual([code, stderr], [0, ''])
  }

  /** On a free port instead of the shown one. */
  async #start(args: readonly string[]): Promise<void> {
    await this.#stop()
    this.#running = new BusbarProcess([...args, '--port', '0'], { cwd: this.folder.path })
    await this.#running.url()
  }

  async #ask([url]: readonly string[], expected: string): Promise<void> {
    const { pathname } = new URL(url!)
    const answer = await fetch(`${await this.#running!.url()}${pathname}`)
    assert.equal((await answer.text()).trimEnd(), expected.trimEnd())
  }

  async #stop(): Promise<void> {
    if (this.#running === undefined) return
    this.#running.child.kill('SIGTERM')
    assert.equal((await this.#running.ended).code, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
    this.folder[Symbol.dispose]()
  }
}

/**
 * Like `npm start`, which .ci proves, but without the example's fixed ports, which may be in use.
 */
async function exampleWithoutPorts(folder: TestFolder): Promise<string[]> {
  const config = await readFile(join(root, 'examples/fanout/busbar.config.ts'), 'utf8')
  const changed = config
    .replaceAll(/, expose: \[[\d, ]+\]/g, '')
    .replaceAll(/path: '\.\/(\w+)'/g, `path: '${root}/examples/fanout/$1'`)
  folder.write('fanout/busbar.config.ts', changed)
  return ['start', 'fanout']
}
