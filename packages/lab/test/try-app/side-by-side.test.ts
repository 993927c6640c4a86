import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isFree } from '../../src/protocol/ports.ts'
import { freePorts } from '../../../busbar/test/support/http/free-ports.ts'
import { withEngine } from '../support/fixture.ts'
import { Repository, server } from '../support/repository.ts'
import { measureRepository, type MeasuredTrial } from '../support/tried.ts'

/** `web` calls `api` at a port of this machine. */
class Shop extends Repository {
  readonly ports: readonly number[]

  private constructor(ports: readonly number[], files: Readonly<Record<string, string>>) {
    super(files)
    this.ports = ports
  }

  /** `line`: of the Procfile, by a third port. */
  static async create(line: (port: number) => string = () => ''): Promise<Shop> {
    const ports = await freePorts(3)
    const [web, api, other] = ports as [number, number, number]
    return new Shop(ports, {
      Procfile: `web: PORT=${web} node web.js\napi: PORT=${api} node api.js\n${line(other)}`,
      'web.js': server('process.env.PORT', `await (await fetch('http://localhost:${api}/items')).json()`),
      'api.js': server('process.env.PORT', `['pen', 'ink']`),
      'jobs.js': `require('node:http').createServer((_, response) => response.end()).listen(Number(process.argv[2]))`,
    })
  }

  areFree(): Promise<boolean[]> {
    return Promise.all(this.ports.map(isFree))
  }
}

/** Each arm was alive before the first was measured. */
function wasSideBySide({ steps }: MeasuredTrial): boolean {
  const [first, last] = [
    steps.findIndex(({ activity }) => activity === 'measure'),
    steps.findLastIndex(({ activity }) => activity === 'start'),
  ]
  return last < first
}

const cellsOf = ({ steps }: MeasuredTrial): string[] => [...new Set(steps.map(({ cell }) => cell))].toSorted()
const free = [true, true, true]

describe('arms of an app with fixed ports', withEngine, () => {
  test('with --rewrite-localhost are measured side by side: today once, and one of Busbar’s twice', async () => {
    using shop = await Shop.create()
    const measured = await measureRepository(shop, { 'rewrite-localhost': true })
    const { arms, notes } = measured.tried
    for (const { name, figures } of arms) assert.deepEqual(figures?.invalidBecause, [], name)
    assert.deepEqual(cellsOf(measured), ['process', 'process (again)', 'shared', 'thread', 'today'], notes.join('\n'))
    assert.ok(wasSideBySide(measured))
    assert.match(notes.join('\n'), /side by side: today once.* between two copies of “Busbar, a process each”\./)
    assert.match(notes.join('\n'), /one round only, so nothing is compared/)
    assert.deepEqual(await shop.areFree(), free)
  })

  test('are measured one at a time if a command holds a port itself', async () => {
    using shop = await Shop.create((port) => `jobs: PORT=${port} node jobs.js ${port} || exit 1`)
    const measured = await measureRepository(shop, { 'rewrite-localhost': true })
    assert.equal(wasSideBySide(measured), false)
    assert.match(measured.tried.notes.join('\n'), /one at a time.*jobs is a command that listens on port \d+ itself/)
    assert.deepEqual(await shop.areFree(), free)
  })

  test('are not measured if there is no time for one round, which the page says', async () => {
    using shop = await Shop.create()
    const { tried } = await measureRepository(shop, { budget: 20 }, { limitMs: 1 })
    assert.deepEqual(new Set(tried.arms.map(({ figures }) => figures)), new Set([null]))
    assert.match(tried.notes.join('\n'), /Not measured: .* takes more than 30 s here\. Use a longer --budget\./)
    assert.deepEqual(await shop.areFree(), free)
  })
})
