/**
 * Compares the load engine over HTTP/2 with `h2load` (Debian's nghttp2-client): 20 connections of
 * 10 streams at one server of `node:http2`, in interleaved pairs.
 *
 *     node --conditions=busbar-source packages/lab/test/proofs/h2load.ts [pairs] [seconds]
 *
 * Prints the rates of each pair, then the median ratio, which has to be within 5 % of 1. Only the
 * engine checks more of an answer than its status.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findEngine, load } from '../../src/engine/load.ts'
import { RunningArm } from '../../src/protocol/running-arm.ts'
import { withWorkspace } from '../../src/protocol/workspace.ts'
import { protocols } from '../../src/scenarios/protocols.ts'

const [pairs, seconds] = [Number(process.argv[2] ?? 10), Number(process.argv[3] ?? 4)]
const [connections, streams] = [20, 10]
const arm = protocols.arms.find(({ name }) => name === 'http2')!
const request = protocols.request(protocols.parameters ?? {})

await withWorkspace(async (workspace) => {
  const running = await RunningArm.start(arm, { ...workspace, workers: 1 })
  try {
    const target = await running.loadTarget()
    const byEngine = async (): Promise<number> => {
      const job = { target, requests: [request], connections, pipelining: streams, discardMs: 500 }
      const { result } = await load(findEngine(), {
        ...job,
        load: { loop: 'closed', durationMs: seconds * 1000 + 500 },
      })
      if (result.failed > 0) throw new Error(result.firstProblem ?? 'requests failed')
      return result.perSecond
    }
    const byH2load = async (): Promise<number> => {
      const how = ['-c', `${connections}`, '-m', `${streams}`, '-D', `${seconds}`, '--warm-up-time', '1']
      const { stdout } = await promisify(execFile)('h2load', [...how, `http://${target.address}${request.path}`])
      return Number(/([\d.]+) req\/s/.exec(stdout)?.[1])
    }
    await byEngine()
    const ratios: number[] = []
    for (let pair = 0; pair < pairs; pair++) {
      // Each is first in half of the pairs.
      const first = pair % 2 === 0
      const early = await (first ? byEngine() : byH2load())
      const late = await (first ? byH2load() : byEngine())
      const [own, other] = first ? [early, late] : [late, early]
      ratios.push(own / other)
      console.log(`engine ${own.toFixed(0)}/s, h2load ${other.toFixed(0)}/s, ratio ${(own / other).toFixed(3)}`)
    }
    console.log(`median ratio ${ratios.toSorted((one, other) => one - other)[Math.floor(pairs / 2)]!.toFixed(3)}`)
  } finally {
    await running.end()
  }
})
