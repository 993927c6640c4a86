import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { command } from '../../src/cli/command.ts'
import { scenarios } from '../../src/scenarios/index.ts'
import { OwnCache } from '../support/fixture.ts'
import { resultOf } from '../support/result.ts'
import { written } from '../support/written.ts'

/** The output and the exit code of a command line. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await command(args, { stdout, stderr })
  return { code, out: written(stdout), err: written(stderr) }
}

const wrong: readonly (readonly [line: string, sentence: RegExp])[] = [
  ['fanuot', /^"fanuot" is neither a scenario \(fanout, .*doctor\) nor a folder, such as .*\nDid you mean fanout\?\n$/],
  ['nosuch', /^"nosuch" is neither a scenario \(fanout, .*doctor\) nor a folder, such as \.\/app\n$/],
  ['fanout extra', /unexpected argument "extra"/],
  ['fanout --arms nobody', /fanout has no arm "nobody"; it has tcp-16/],
  ['fanout --work nothing', /fanout has no work "nothing"/],
  ['fanout --baseline nobody', /fanout has no arm "nobody"; it has /],
  ['rpc --arms grpc-js --work sqlite', /grpc-js does not implement the work "sqlite"/],
  ['fanout --call a/B', /--call needs the folder of an app, or --url/],
  ['fanout --url http://127.0.0.1:1/', /--url replaces "fanout": leave one of them out/],
  ['--url http://127.0.0.1:1/ --vary placement', /--vary is for a comparison, and --url compares nothing/],
  ['. --ramp 1..2 --arms busbar', /--arms is for a comparison, and --ramp compares nothing/],
  ['fanout --rounds some', /--rounds needs an integer of at least 1, not "some"/],
  ['fanout --workers 0', /--workers needs an integer of at least 1, not "0"/],
  ['fanout --connections 10,', /--connections needs an integer of at least 1, not ""/],
  ['fanout --open high', /--open needs an integer/],
  ['contention --set increments', /--set increments needs an integer of at least 0, not ""/],
  ['contention --set increments=many', /--set increments needs an integer of at least 0, not "many"/],
  ['contention --set increments=1=2', /--set increments needs an integer of at least 0, not "1=2"/],
  ['contention --set constructor=1', /contention has no parameter "constructor"; it has increments, tasks, shards/],
  ['fanout --work constructor', /fanout has no work "constructor"/],
  ['fanout --set depth=1', /fanout has no parameter "depth"/],
  ['fanout --vary placement', /--vary needs the folder of an app/],
  ['. --vary workers', /--vary supports placement, not "workers"/],
  ['fanout --no-such', /^busbar bench has no flag --no-such\nSee busbar bench --help\.\n$/],
  ['fanout --quikc', /^busbar bench has no flag --quikc\nDid you mean --quick\?\n$/],
  ['fanout --conections=10', /^busbar bench has no flag --conections\nDid you mean --connections\?\n$/],
  ['fanout -q', /^busbar bench has no flag -q\nSee busbar bench --help\.\n$/],
  ['fanout --quick --resume', /there is nothing to resume/],
  ['compare one.json', /compare needs two files/],
  ['compare one.json two.json', /one\.json/],
]

for (const [line, sentence] of wrong)
  test(`busbar bench ${line} exits with 2 and a message`, async () => {
    using _ = new OwnCache()
    const { code, out, err } = await run(...line.split(' '))
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, sentence)
  })

test('help lists every scenario, and for one scenario its arms, work and parameters', async () => {
  const { code, out } = await run('--help')
  assert.equal(code, 0)
  for (const { name, question, arms, variants, parameters } of scenarios.values()) {
    assert.ok(out.includes(name) && out.includes(question), name)
    const one = await run(name, '--help')
    assert.equal(one.code, 0)
    const names = [...arms.map((arm) => arm.name), ...Object.keys(variants ?? {}), ...Object.keys(parameters ?? {})]
    for (const part of names) assert.ok(one.out.includes(`  ${part} `), `${name}: ${part}`)
  }
})

test('without a scenario the help is on standard error, and the exit code is 2', async () => {
  const { code, out, err } = await run()
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /^busbar bench <scenario>/)
})

test('a Ctrl-C before the first round is complete also exits with 130', async () => {
  const ending = run('scaling', '--quick', '--arms', 'busbar')
  process.emit('SIGINT')
  const { code, out, err } = await ending
  assert.deepEqual([code, out], [130, ''])
  assert.match(err, /interrupted before the first round was complete/)
})

test('compare exits with 0 if nothing is slower, and with 1 otherwise', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-lab-test-'))
  try {
    const write = (name: string, perSecond: number) => {
      const file = join(folder, name)
      const rounds = [1, 1.01, 0.99, 1.005, 0.995, 1].map((value) => value * perSecond)
      writeFileSync(
        file,
        JSON.stringify(resultOf({ base: { perSecond: [99, 101, 100, 100, 99, 101] }, arm: { perSecond: rounds } })),
      )
      return file
    }
    const [before, slower, same] = [write('before.json', 200), write('slower.json', 150), write('same.json', 200)]
    const good = await run('compare', before, same)
    assert.deepEqual([good.code, good.err], [0, ''])
    const bad = await run('compare', before, slower)
    assert.equal(bad.code, 1)
    assert.match(bad.out, /arm +req\/CPU s, ratio to the baseline +0\.75 x \[.*\] +slower/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
