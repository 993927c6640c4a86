/**
 * Requests per CPU second of the server's process, through the entrance against the same program on
 * `node:http`, over several starts in turns:
 * `node scripts/entrance/measure.ts [--lines 24,26] [--programs fastify,express] [--requests get,post] [--schemes http,https] [--arms node,portable,native] [--starts 8] [--rounds 3] [--seconds 3] [--connections 100] [--workers 1] [--threads 1] [--json <file>]`
 *
 * Arms: `node` is the plain program, `portable` and `native` are an app with that entrance,
 * `duplex` and `exchange` are the bridges by themselves (`serve.ts`).
 *
 * Needs `wrk`, Linux, and the add-on: `cargo build --release -p busbar-entrance`. A start on Node
 * 26 is fast or slow for its whole life, so the sample is a start: each arm is started once in
 * turn, and the rounds within are averaged. The ratios are of arms within a turn; the interval is
 * that of their mean logarithm over the turns (95 %, Student's t). Needs an idle machine.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../../packages/busbar/test/support/http/free-ports.ts'
import { nodeBinary } from '../node-lines.ts'
import { meanOf, row, type Sample } from './samples.ts'

type Arm = 'node' | 'portable' | 'native' | 'duplex' | 'exchange'
type Line = '24' | '26'
type Scheme = 'http' | 'https'

interface Server {
  readonly url: string
  readonly child: ChildProcess
}

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '24,26' },
    programs: { type: 'string', default: 'fastify,express' },
    requests: { type: 'string', default: 'get,post' },
    schemes: { type: 'string', default: 'http,https' },
    arms: { type: 'string', default: 'node,portable,native' },
    starts: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '100' },
    workers: { type: 'string', default: '1' },
    threads: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const list = (text: string): string[] => text.split(',')
const [starts, rounds, seconds, connections] = [values.starts, values.rounds, values.seconds, values.connections].map(
  Number,
) as [number, number, number, number]

const products = Array.from({ length: 10 }, (_, id) => ({
  id,
  name: `Product number ${id}`,
  price: id * 10.5,
  description: `A fine product for testing, item ${id}`,
  stock: id * 3,
  tags: ['a', 'b'],
}))
const body = JSON.stringify({ products })
/** What a browser or a gateway sends beside the length and the type. */
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/plain, */*',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en-GB,en;q=0.9',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)',
  origin: 'https://shop.example',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
}
const scratch = mkdtempSync(join(tmpdir(), 'busbar-entrance-'))
const certificate = makeCertificate()
const script = join(scratch, 'products.lua')
writeFileSync(
  script,
  `wrk.method = "POST"\nwrk.path = "/products"\nwrk.body = ${JSON.stringify(body)}\n` +
    Object.entries(headers)
      .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`)
      .join(''),
)

process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

const results: Record<string, Record<string, Sample[]>> = {}
for (const line of list(values.lines) as Line[])
  for (const program of list(values.programs))
    for (const scheme of list(values.schemes) as Scheme[]) await measure(line, program, scheme)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 1)}\n`)

async function measure(line: Line, program: string, scheme: Scheme): Promise<void> {
  const node = nodeBinary(line)
  if (node === undefined) throw new Error(`there is no Node ${line} here`)
  const arms = list(values.arms) as Arm[]
  const requests = list(values.requests)
  const titles = requests.map((request) => `Node ${line}, ${program}, ${scheme}, ${request}`)
  for (const title of titles) results[title] = Object.fromEntries(arms.map((arm) => [arm, []]))
  for (let turn = 0; turn < starts; turn++) {
    const order = arms.map((_, n) => arms[(turn + n) % arms.length]!)
    const servers = new Map<Arm, Server>()
    try {
      for (const arm of order) servers.set(arm, await start({ node, arm, program, scheme }))
      for (const [n, request] of requests.entries())
        for (const [arm, sample] of await compare(request, servers)) results[titles[n]!]![arm]!.push(sample)
    } finally {
      for (const { child } of servers.values()) child.kill('SIGKILL')
    }
  }
  for (const title of titles) {
    console.log(`\n${title}, ${starts} starts`)
    const base = results[title]!['node']
    for (const arm of arms) console.log(row(arm, results[title]![arm]!, arm === 'node' ? undefined : base))
  }
}

/** One sample of each arm: the mean of its rounds. */
async function compare(request: string, servers: ReadonlyMap<Arm, Server>): Promise<Map<Arm, Sample>> {
  const arms = [...servers.keys()]
  const samples = new Map<Arm, Sample[]>(arms.map((arm) => [arm, []]))
  for (const server of servers.values()) {
    await check(server, request)
    load(server, request, 2)
  }
  for (let round = 0; round < rounds; round++)
    for (let n = 0; n < arms.length; n++) {
      const arm = arms[(round + n) % arms.length]!
      samples.get(arm)!.push(load(servers.get(arm)!, request, seconds))
    }
  return new Map([...samples].map(([arm, all]) => [arm, meanOf(all)]))
}

interface Start {
  readonly node: string
  readonly arm: Arm
  readonly program: string
  readonly scheme: Scheme
}

async function start(what: Start): Promise<Server> {
  const { node, arm, scheme } = what
  const program = `${import.meta.dirname}/programs/${what.program}.mjs`
  if (arm === 'duplex' || arm === 'exchange') return await startBridge(node, arm, program)
  const port = await freePort()
  const url = `${scheme}://127.0.0.1:${port}/`
  if (arm === 'node') {
    const env = {
      PORT: String(port),
      ...(scheme === 'https' && { TLS_CERT: certificate.cert, TLS_KEY: certificate.key }),
    }
    return await untilServing(spawnServer(node, [program], env), url)
  }
  const folder = mkdtempSync(join(scratch, 'app-'))
  const gateway = { port, entrance: arm, entry: 'web', ...(scheme === 'https' && { tls: certificate }) }
  const services = { web: { path: `${import.meta.dirname}/programs`, entry: `${what.program}.mjs` } }
  writeFileSync(
    join(folder, 'busbar.config.json'),
    JSON.stringify({ workers: Number(values.workers), gateway, services }),
  )
  const command = `${import.meta.dirname}/../../packages/busbar/test/support/busbar.ts`
  const args = ['--conditions=busbar-source', command, 'start', '--once', folder]
  return await untilServing(spawnServer(node, args, {}), url)
}

/** A bridge by itself, without the supervisor and the gateway. */
async function startBridge(node: string, bridge: Arm, program: string): Promise<Server> {
  const { workers, threads } = values
  const args = ['--bridge', bridge, '--workers', workers, '--threads', threads]
  const child = spawn(node, ['--conditions=busbar-source', `${import.meta.dirname}/serve.ts`, program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [text] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { url: `http://127.0.0.1:${(JSON.parse(text) as { port: number }).port}/`, child }
}

function spawnServer(node: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(node, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function untilServing(child: ChildProcess, url: string): Promise<Server> {
  for (;;) {
    const response = await ask(url, { agent: false, rejectUnauthorized: false }).catch(() => undefined)
    if (response?.status === 200) return { url, child }
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} has ended`)
    await sleep(50)
  }
}

/** Not by `fetch`: its kept connections meet servers that have just closed them. */
async function ask(url: string, options: RequestOptions, sent?: string): Promise<{ status: number; text: string }> {
  const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, options)
  const [response] = (await once(request.end(sent), 'response')) as [IncomingMessage]
  return { status: response.statusCode!, text: Buffer.concat(await response.toArray()).toString() }
}

/** Of an RSA key of 2,048 bits for 127.0.0.1, as files. */
function makeCertificate(): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(scratch, 'cert.pem'), join(scratch, 'key.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  return { cert, key }
}

/** A wrong answer would be a fast one. */
async function check({ url }: Server, request: string): Promise<void> {
  const options = { agent: false, rejectUnauthorized: false } as const
  const { status, text } =
    request === 'get'
      ? await ask(url, options)
      : await ask(new URL('products', url).href, { ...options, method: 'POST', headers }, body)
  const expected = request === 'get' ? '{"hello":"world"}' : JSON.stringify({ count: 10, products })
  if (text !== expected) throw new Error(`a wrong answer: ${status} ${text.slice(0, 200)}`)
}

function load({ url, child }: Server, request: string, time: number): Sample {
  const before = cpuOf(child.pid!)
  const args = ['-t1', `-c${connections}`, `-d${time}s`, '--latency', ...(request === 'post' ? ['-s', script] : [])]
  const text = execFileSync('wrk', [...args, url], { encoding: 'utf8' })
  const after = cpuOf(child.pid!)
  const [user, kernel] = [after.user - before.user, after.kernel - before.kernel]
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(text)
  const [, requests, , unit] = /(\d+) requests in ([\d.]+)(m|s)/.exec(text)!
  if (unit !== 's') throw new Error(text)
  const [, p99, p99Unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(text)!
  const scale = { us: 0.001, ms: 1, s: 1000 }[p99Unit as 'us' | 'ms' | 's']
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1])
  const each = 1e6 / Number(requests)
  const perCpuSecond = Number(requests) / (user + kernel)
  return { perCpuSecond, user: user * each, kernel: kernel * each, perSecond, p99: Number(p99) * scale }
}

/**
 * In seconds, of all threads of the process: fields 14 and 15, behind a name that may have spaces.
 */
function cpuOf(pid: number): { readonly user: number; readonly kernel: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return { user: Number(fields[11]) / 100, kernel: Number(fields[12]) / 100 }
}
