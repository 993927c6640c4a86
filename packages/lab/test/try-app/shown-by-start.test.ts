import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionPorts } from '../../src/machine/listening-ports.ts'
import { NoAnswerError } from '../../src/protocol/client/await-answer.ts'
import { shownBy } from '../../src/try-app/shown-by-start.ts'
import type { TriedApp } from '../../src/try-app/tried-app.ts'

const first = 20_000
const app = (...services: readonly (readonly [name: string, port?: number])[]): TriedApp => ({
  name: 'shop',
  today: services.map(([name, port]) => ({ name, command: ['node'], cwd: '/', env: {}, needs: [], port })),
  folder: '/tmp',
  entry: 'web',
  exposed: {},
  beside: { possible: false, why: 'nobody asked' },
  requests: [],
  budgetMs: 0,
  connections: 1,
})
const error = (listeners: SessionPorts['listeners'], ...given: number[]): NoAnswerError =>
  new NoAnswerError('no answer', { listeners, given: new Set(given) }, first)

test('a service is known by the nearest value of PORT, since the others are those of the shell that started it', () => {
  const listeners = [
    { port: 3000, given: [first] },
    { port: 3001, given: [4000, first + 1, first] },
  ]
  assert.deepEqual(shownBy(error(listeners, first, first + 1), app(['web'], ['api']), {}).ports, {
    web: 3000,
    api: 3001,
  })
})

test('a service that listens where it was told, and one with several ports, show nothing', () => {
  const listeners = [
    { port: first, given: [first] },
    { port: 9229, given: [first] },
    { port: 3001, given: [first + 1] },
    { port: 9230, given: [first + 1] },
  ]
  const shown = shownBy(error(listeners, first, first + 1), app(['web'], ['api']), {})
  assert.deepEqual([shown.ports, shown.silent], [{}, []])
})

test('a service without a port is silent only while it runs, and never the entry', () => {
  const listeners = [{ port: 3000, given: [] }]
  const of = (...given: number[]) => shownBy(error(listeners, ...given), app(['web'], ['jobs']), {}).silent
  assert.deepEqual([of(first, first + 1), of(first)], [['jobs'], []])
})

test('a port that another start does not have was one of that start only', () => {
  const listeners = [{ port: 40_783, given: [] }]
  assert.deepEqual(shownBy(error(listeners), app(['web', 40_199]), { web: 40_199 }).moving, ['web'])
  assert.deepEqual(shownBy(error([]), app(['web', 40_199]), { web: 40_199 }).moving, [])
})
