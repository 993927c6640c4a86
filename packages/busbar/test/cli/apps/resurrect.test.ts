import assert from 'node:assert/strict'
import { rmSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Background } from '../../support/app/background.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'

describe('busbar save and resurrect', () => {
  test('start the apps of the background again, with their flags', async () => {
    await using background = new Background()
    await background.start('shop')
    await background.start('--port', '0', '--once', 'other')
    await using foreground = new BusbarProcess(['start', 'other', '--port', '0', '--once'], {
      env: background.env,
      cwd: background.folder.path,
    })
    await foreground.url()
    const saved = await background.run(['save', '--json'])
    const { file, apps } = JSON.parse(saved.stdout) as { file: string; apps: { name: string; args: string[] }[] }
    assert.deepEqual(
      apps.map(({ name }) => name),
      ['shop', 'other'],
    )
    assert.deepEqual(apps[1]!.args, ['--port=0', '--once', background.folder.at('other')])
    assert.equal(statSync(file).mode & 0o777, 0o600)
    await background.run(['stop', '--all'])
    await foreground.ended
    const { code, stdout } = await background.run(['resurrect', '--json'], '/')
    assert.equal(code, 0)
    const outcomes = (JSON.parse(stdout) as { apps: { outcome: string }[] }).apps.map(({ outcome }) => outcome)
    assert.deepEqual(outcomes, ['started', 'started'])
    assert.deepEqual(await background.running(), ['shop', 'other'])
    const again = await background.run(['resurrect'])
    assert.deepEqual([again.code, again.stdout], [0, 'shop runs already\nother runs already\n'])
  })

  test('say which app fails, and start the others', async () => {
    await using background = new Background()
    await background.start('shop')
    await background.start('--port', '0', 'other')
    await background.run(['save'])
    await background.run(['stop', '--all'])
    background.folder.write('shop/web/index.js', `throw new Error('thrown on purpose')`)
    const { code, stdout } = await background.run(['resurrect'])
    assert.equal(code, 1)
    assert.match(stdout, /^shop failed : .*thrown on purpose/m)
    assert.match(stdout, /^other started \(process \d+\)$/m)
  })

  test('say that the folder of an app is gone', async () => {
    await using background = new Background()
    const folder = background.folder.at('other')
    assert.equal((await background.run(['start', '-d', '--port', '0'], folder)).code, 0)
    await background.run(['save'])
    await background.run(['stop', '--all'])
    rmSync(folder, { recursive: true })
    const { code, stdout } = await background.run(['resurrect'])
    assert.equal(code, 1)
    assert.match(stdout, /^other failed : its folder .* does not exist any more.*busbar save again$/m)
  })

  test('a suspended app is in the list, and not started a second time', async () => {
    await using background = new Background()
    const { pid } = await background.start('shop')
    process.kill(pid, 'SIGSTOP')
    const saved = await background.run(['save', '--json'])
    const { apps } = JSON.parse(saved.stdout) as { apps: { name: string; args: string[] }[] }
    assert.deepEqual([apps[0]?.name, apps[0]?.args], ['shop', [background.folder.at('shop')]])
    assert.equal((await background.run(['resurrect'])).stdout, 'shop runs already\n')
    assert.match(
      (await background.run(['ps'])).stdout,
      new RegExp(`^shop +${pid} +does not answer .*${apps[0]!.args[0]}$`, 'm'),
    )
    const described = await background.run(['describe', 'shop'], '/')
    assert.equal(described.code, 4)
    assert.match(described.stderr, new RegExp(`process ${pid}\\) does not answer`))
    process.kill(pid, 'SIGCONT')
    assert.deepEqual(await background.running(), ['shop'])
  })

  test('resurrect without a list says so', async () => {
    await using background = new Background()
    const { code, stderr } = await background.run(['resurrect'])
    assert.equal(code, 2)
    assert.match(stderr, /run busbar save/)
  })
})
