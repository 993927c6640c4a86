import { deepEqual } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { captureConnections } from '../../../../src/mesh/sockets/capture.ts'
import { addHopsHeaders } from '../../../../src/mesh/sockets/hops-header.ts'
import { Router } from '../../../../src/mesh/routing/router.ts'
import type { Link } from '../backend.ts'
import { isOn, streams } from '../../../support/mesh/accelerators.ts'
import { callByExchange } from '../backends/exchange.ts'
import { HttpCaller } from '../backends/http-client.ts'
import type { Case } from '../case.ts'
import { Caller } from '../case.ts'
import { cases } from '../cases/all.ts'
import { isKnownOverUnixSockets } from '../over-unix-sockets.ts'
import { comparable, randomCase } from '../random-case.ts'
import { oracle, ordered, type Result } from '../run-case.ts'
import type { CaseKey } from './messages.ts'
import { Programs } from './programs.ts'

const seeds = 60

for (const [where, start] of [
  ['another thread', () => Programs.inThread()],
  ['another process', () => Programs.inProcess()],
] as const)
  describe(`a program in ${where}`, () => {
    let programs: Programs
    let captured: Disposable
    const byExchange = isOn('exchange') && { 'by exchange': () => callByExchange(programs.endpoint) }
    const ways = { ...byExchange, 'by bytes': callByBytes }

    before(async () => {
      programs = await start()
      captured = capture(programs)
    })
    after(async () => {
      captured[Symbol.dispose]()
      await programs[Symbol.asyncDispose]()
    })

    for (const [way, open] of Object.entries(ways))
      describe(`${way} behaves like TCP`, () => {
        for (const one of cases.filter((one) => isFarSighted(one, way)))
          test(one.name, { timeout: 20_000 }, async () => {
            const found = await runFar(one, { name: one.name }, programs, open)
            if (found.handedOver) deepEqual(one.handedOver, true)
            else deepEqual(ordered(one, found), ordered(one, await oracle(one)))
          })

        test(`random programs, seeds 1 to ${seeds}`, async () => {
          for (let seed = 1; seed <= seeds; seed++) {
            const one = randomCase(seed)
            const found = comparable(await runFar(one, { seed }, programs, open))
            deepEqual(found, comparable(await oracle(one)), `seed ${seed}`)
          }
        })
      })
  })

/** Excludes cases with access to the server itself, and known differences of Unix sockets. */
function isFarSighted(one: Case, way: string): boolean {
  return one.holdsServer !== true && (way === 'by exchange' || !isKnownOverUnixSockets(one.name))
}

async function runFar(one: Case, key: CaseKey, programs: Programs, way: () => Link): Promise<Result> {
  const log = await programs.serve(key)
  await using link = way()
  const caller = new Caller(link)
  try {
    if (one.call === undefined) await caller.send()
    else await one.call(caller, log)
    return { caller: await caller.outcomes(), program: await programs.settled(), handedOver: caller.handedOver }
  } finally {
    await programs.close()
  }
}

function capture({ endpoint }: Programs): Disposable {
  const router = new Router(['callee'])
  router.addRemote(endpoint)
  const installed = new DisposableStack()
  installed.use(captureConnections({ router, maxHops: 8, streams }))
  installed.use(addHopsHeaders(router))
  return installed
}

function callByBytes(): Link {
  const caller = new HttpCaller({ host: 'callee.internal', port: 80 })
  return {
    open: (request, recording) => caller.open(request, recording),
    async [Symbol.asyncDispose]() {
      caller[Symbol.dispose]()
    },
  }
}
