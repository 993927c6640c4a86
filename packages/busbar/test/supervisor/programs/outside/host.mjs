// Starts threads and processes that call by name, in every possible way.
import { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SHARE_ENV, Worker } from 'node:worker_threads'

const child = fileURLToPath(new URL('child.mjs', import.meta.url))
const titled = fileURLToPath(new URL('titled.cjs', import.meta.url))
const node = process.execPath
const line = `"${node}" "${child}"`
const own = { PATH: process.env.PATH, OWN: 'mine' }
const preloads = { ...own, NODE_OPTIONS: `--require "${titled}"` }

const thread = async (options) => (await once(new Worker(child, options), 'message'))[0]
const forked = async (options, args = []) => (await once(fork(child, args, options), 'message'))[0]
const spawned = async (...options) => JSON.parse(await text(spawn(node, [child], ...options).stdout))

const ways = {
  'new Worker': () => thread({ argv: ['all'] }),
  'new Worker with env': () => thread({ env: { OWN: 'mine' } }),
  'new Worker with NODE_OPTIONS': () => thread({ env: preloads }),
  'new Worker with SHARE_ENV': () => thread({ env: SHARE_ENV }),
  'new Worker with execArgv': () => thread({ env: own, execArgv: ['--require', titled] }),
  'new Worker with SHARE_ENV and execArgv': () => thread({ env: SHARE_ENV, execArgv: ['--require', titled] }),
  'new Worker with empty execArgv': () => thread({ execArgv: [] }),
  fork: () => forked({}, ['all']),
  'fork with env': () => forked({ env: own }),
  'fork with NODE_OPTIONS': () => forked({ env: preloads }),
  'fork with execArgv': () => forked({ execArgv: ['--require', titled] }),
  spawn: () => spawned(),
  'spawn with env': () => spawned({ env: own }),
  'spawn in a shell': async () => JSON.parse(await text(spawn(line, { shell: true }).stdout)),
  spawnSync: async () => JSON.parse(spawnSync(node, [child], { env: own }).stdout),
  exec: async () => JSON.parse((await promisify(exec)(line, { env: own })).stdout),
  'exec with a callback': () => new Promise((resolve) => exec(line, (_, out) => resolve(JSON.parse(out)))),
  execFile: async () => JSON.parse((await promisify(execFile)(node, [child], { env: own })).stdout),
  execSync: async () => JSON.parse(execSync(line, { env: own })),
  execFileSync: async () => JSON.parse(execFileSync(node, [child], { env: own })),
  'a child of a child': async () => {
    const code = `console.log(require('child_process').execFileSync(process.execPath, [process.argv[1]], { env: { OWN: 'mine' } }) + '')`
    return JSON.parse(execFileSync(node, ['-e', code, child]))
  },
  'a thread of a child': async () => {
    const code = `new (require('worker_threads').Worker)(process.argv[1], { env: {}, execArgv: [] }).on('message', (said) => console.log(JSON.stringify(said)))`
    return JSON.parse(execFileSync(node, ['-e', code, child]))
  },
}

http
  .createServer(async (request, response) => {
    const way = decodeURIComponent(request.url.slice(1))
    try {
      response.end(JSON.stringify(await ways[way]()))
    } catch (error) {
      response.writeHead(500).end(String(error.stderr ?? error.stack))
    }
  })
  .listen(3000)
