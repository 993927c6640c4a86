import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pm2Rules } from '../../src/adopt/sources/pm2/pm2-rules.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { folderWithBusbar, TestFolder } from '../support/app/test-folder.ts'
import { freePorts } from '../support/http/free-ports.ts'
import { ImportedApp, server, textAt } from './imported-app.ts'

describe('busbar import of an ecosystem file', () => {
  test('starts what PM2 starts: cluster and fork mode, arguments, another interpreter, environments', async () => {
    const [web, api, old] = (await freePorts(3)) as [number, number, number]
    using app = await ImportedApp.from({
      'ecosystem.config.js': `
        const shared = { REGION: 'eu', TEMPLATE: '\${name}' }
        module.exports = {
          apps: [
            { name: 'Web', script: './web.js', instances: 2, exec_mode: 'cluster', max_memory_restart: '260M',
              env: { ...shared, PORT: ${web} }, env_production: { REGION: 'us' }, watch: true, kill_timeout: 12000 },
            { name: 'API_v2', script: 'index.js', cwd: './api', args: '--mode fast', node_args: ['--no-warnings'], port: ${api},
              wait_ready: true, listen_timeout: 3000, cron_restart: '0 4 * * *' },
            { name: 'old', script: './serve.sh', env: { PORT: ${old} } },
            { script: 'worker.js', autorestart: false },
            { script: 'check.sh' },
            { name: 'files', script: 'serve' },
          ],
          deploy: { production: { host: 'example.test' } },
        }`,
      'web.js': server("process.env.REGION + ' ' + process.env.TEMPLATE"),
      'api/index.js': `${server("process.argv.slice(2).join(' ') + ' ' + process.execArgv.includes('--no-warnings')")}; process.send?.('ready')`,
      'serve.sh': 'exec node old.js',
      'old.js': server("'old'"),
      'worker.js': 'setInterval(() => {}, 1000)',
      'check.sh': 'while true; do echo fine; sleep 2; done',
    })
    assert.deepEqual(Object.keys(app.report.config.services), ['web', 'api-v2', 'old'])
    assert.deepEqual(
      app.report.leftOut.map(({ name }) => name),
      ['worker', 'check', 'files'],
    )
    assert.match(app.report.leftOut[0]!.why, /nothing in worker\.js opens a server/)
    assert.match(app.reason('apps[0].watch')!, /busbar dev/)
    assert.match(app.reason('deploy')!, /copies no code/)
    assert.equal(app.target('apps[0].max_memory_restart'), 'services.web.memory')
    assert.equal(app.target('apps[1].cron_restart'), 'services.api-v2.cronRestart')
    assert.equal(app.report.config['stopTimeout'], 12_000)
    {
      await using started = app.start()
      assert.equal(await started.url(), `http://127.0.0.1:${web}`)
      assert.equal(await textAt(`http://127.0.0.1:${web}`), 'eu ${name}')
      assert.equal(await textAt(`http://127.0.0.1:${api}`), '--mode fast true')
      assert.equal(await textAt(`http://127.0.0.1:${old}`), 'old')
    }
    await using started = app.start(['--env', 'production'])
    assert.equal(await textAt(await started.url()), 'us ${name}')
  })

  test('reads JSON with comments, YAML, lists, single apps and ES modules', async () => {
    const app = { name: 'web', script: 'web.js' }
    const texts = {
      'ecosystem.json': "{ // the apps\n apps: [{ name: 'web', script: 'web.js', }] }",
      'process.json': { pm2: [app] },
      'ecosystem.json5': [app],
      'ecosystem.yml': 'apps:\n  - name: web\n    script: web.js\n',
      'pm2.config.js': `module.exports = ${JSON.stringify(app)}`,
      'ecosystem.config.mjs': `export default { apps: [${JSON.stringify(app)}] }`,
      'ecosystem.config.ts': `const apps: object[] = [${JSON.stringify(app)}]\nexport default { apps }`,
    }
    using folder = new TestFolder({ 'web.js': server("'web'"), ...texts })
    for (const name of Object.keys(texts)) {
      const { code, stdout, stderr } = await BusbarProcess.run(['import', name, '--json'], { cwd: folder.path })
      assert.equal(code, 0, `${name}: ${stderr}`)
      const { config } = JSON.parse(stdout) as ImportedApp['report']
      assert.deepEqual(config.services, { web: { path: '.', entry: './web.js', run: 'process' } }, name)
    }
  })

  test('says which variables it leaves out', async () => {
    using folder = new TestFolder({
      'ecosystem.json': [{ script: 'web.js', env: { KEPT: 1, NONE: null } }],
      'web.js': server("'web'"),
    })
    const { stdout } = await BusbarProcess.run(['import', '--json'], { cwd: folder.path })
    const { config, mapped } = JSON.parse(stdout) as ImportedApp['report']
    assert.deepEqual(config.services?.['web'], { path: '.', entry: './web.js', run: 'process', env: { KEPT: '1' } })
    assert.match(JSON.stringify(mapped), /without NONE: null is no text/)
  })

  test('prints the config on standard output and the list of keys on standard error', async () => {
    using folder = folderWithBusbar({
      'ecosystem.config.cjs': "module.exports = { apps: [{ script: 'web.js', vizion: false }, 'api.js'] }",
      'web.js': server("'web'"),
    })
    const { code, stdout, stderr } = await BusbarProcess.run(['import'], { cwd: folder.path })
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^import \{ defineApp \} from 'busbar'\n\n\/\/ Written by busbar import from ecosystem\.config\.cjs/,
    )
    assert.match(stderr, /apps\[0\]\.vizion +it belongs to the dashboard of PM2/)
    assert.match(stderr, /apps\[1\] +it is not an object with a script/)
    folder.write('busbar.config.ts', stdout)
    await using started = new BusbarProcess(['start', '--port', '0'], { cwd: folder.path })
    assert.equal(await textAt(await started.url()), 'web')
  })

  test('without busbar beside it, the config starts too', async () => {
    using folder = new TestFolder({ 'ecosystem.json': { apps: [{ script: 'web.js' }] }, 'web.js': server("'web'") })
    const { code, stderr } = await BusbarProcess.run(['import', '--write'], { cwd: folder.path })
    assert.equal(code, 0, stderr)
    await using started = new BusbarProcess(['start', '--port', '0'], { cwd: folder.path })
    assert.equal(await textAt(await started.url()), 'web')
  })

  test('refuses what it cannot read, says why, and replaces no config', async () => {
    using folder = new TestFolder({
      'broken.json': '{ apps: [',
      'broken.yml': 'apps:\n  - name: [web\n',
      'none.json': {},
      'throws.config.js': "throw new Error('no database')",
    })
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await BusbarProcess.run(['import', ...args], { cwd: folder.path })
      return `${code} ${stderr}`
    }
    assert.match(await refused(), /^3 .*has no file that busbar import reads/)
    assert.match(await refused('missing.json'), /^3 .*does not exist/)
    assert.match(await refused('broken.json'), /^3 .*cannot be read/)
    assert.match(await refused('broken.yml'), /^3 .*not valid YAML.*at line/s)
    assert.match(await refused('none.json'), /^3 .*no app of PM2/)
    assert.match(await refused('throws.config.js'), /^3 .*no database/)
    folder.write('ecosystem.json', [{ script: 'web.js' }])
    folder.write('web.js', server("'web'"))
    folder.write('busbar.config.json', { services: {} })
    assert.match(await refused('--write'), /^2 .*has a busbar\.config\.json already/)
    folder.write('Procfile', 'web: node web.js')
    assert.match(await refused(), /^2 .*ecosystem\.json and Procfile/)
  })
})

/** The documented keys of an app of PM2 7, with their aliases. */
const keys =
  `script exec cmd name name_prefix filter_env namespace install_url cwd args exec_interpreter interpreter node_args
  interpreterArgs interpreter_args out_file output out out_log error_file error err err_file err_log log_file log disable_logs log_type
  log_date_format time env max_memory_restart pid_file pid restart_delay exp_backoff_restart_delay source_map_support
  disable_source_map_support wait_ready instances kill_timeout shutdown_with_message listen_timeout cron_restart cron merge_logs
  combine_logs vizion autostart autorestart stop_exit_codes watch_delay watch ignore_watch watch_options min_uptime max_restarts
  execute_command exec_mode force append_env_to_name post_update trace disable_trace v8 event_loop_inspector deep_monitoring increment_var
  instance_var pmx automation treekill port username uid user gid windowsHide kill_retry_time write io`.split(/\s+/)

test('every key of PM2 is mapped, or has a reason', () => {
  assert.deepEqual(
    keys.filter((key) => !Object.hasOwn(pm2Rules, key)),
    [],
  )
})
